import { Script } from '@reroll/redis/connection/script';
import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { auditShareOf } from '@reroll/core/history/audit-share';
import type { CatalogKeys } from '@reroll/redis/catalog/keys';
import type { RedisClient } from '@reroll/redis/connection/redis';
import type { Logger } from '@reroll/shared/platform/logging/logging';
import { ProblemError } from '../http/problem-error.ts';
import { KEEP_ANSWER } from './keep-answer.lua.ts';
import { tryAgain } from './try-again.ts';

/** Seconds for which an answer is kept. */
const KEPT = 86_400;
/** Places for answers: an answer takes one for each of so many characters. */
const CHARACTERS = 1_024;
const MOST: MostKept = { ofCaller: 1_000, ofAll: 10_000 };
/** Seconds for which a write under way holds its key: longer than it may take, and not for ever if the process dies. */
const UNDER_WAY = 60;
/** Milliseconds for which a second request waits for the first, and between two checks. */
const PATIENCE = 5_000;
const LOOK_EVERY = 50;

/** KEYS 1 the key ARGV 1 what we wrote there Removes it if it is still ours. Atomic because another may hold it by now. */
const RELEASE = new Script(`
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
`);

const NOT_OVER = 'another request with this idempotency key has failed, or is not over: try again';
const LOST = 'the write of this idempotency key was done, and its answer is lost: see what became of it';

/** The most places. Service accounts of one namespace share those of one caller. */
interface MostKept {
  readonly ofCaller: number;
  readonly ofAll: number;
}

export interface Keyed {
  readonly actor: string;
  readonly key: string;
  /** Method, path and body. */
  readonly request: string;
  readonly requestId: string;
}

interface Kept {
  readonly request: string;
  readonly by: string;
  /** Absent while the write is under way. */
  readonly answer?: unknown;
  /** The write was done, but its answer is lost. */
  readonly isLost?: true;
}

/** A key of Redis, and what we wrote there. */
interface Held {
  readonly actor: string;
  readonly name: string;
  readonly mine: string;
}

export interface OnceWrite<Result, Answer> {
  /** Does the write. If it rejects, it was not done. */
  readonly run: () => Promise<Result>;
  readonly answer: (result: Result) => Promise<Answer>;
}

/** Runs writes once for a key, and gives every repetition the same answer. */
export class Idempotency {
  readonly #redis: RedisClient;
  readonly #keys: Pick<CatalogKeys, 'idempotency' | 'idempotencyOf'>;
  readonly #log: Logger;
  readonly #most: MostKept;

  constructor(
    redis: RedisClient,
    keys: Pick<CatalogKeys, 'idempotency' | 'idempotencyOf'>,
    { log, most = MOST }: { log: Logger; most?: MostKept },
  ) {
    this.#redis = redis;
    this.#keys = keys;
    this.#log = log;
    this.#most = most;
  }

  /**
   * Runs the write, or returns its earlier answer, as long as that is kept. Rejects with `IdempotencyMismatch` if the key was used for another
   * request, and with `Conflict` if the first is not over after some seconds, or was done and its answer lost. A failed
   * write leaves nothing and may be retried. One that was done is never repeated, whatever fails after it.
   */
  async once<Result, Answer>(keyed: Keyed, write: OnceWrite<Result, Answer>): Promise<Answer> {
    const name = this.#keys.idempotency + sha256(`${keyed.actor}\0${keyed.key}`);
    const kept: Kept = { request: sha256(keyed.request), by: keyed.requestId };
    const mine = JSON.stringify(kept);
    const isFirst = (await this.#redis.set(name, mine, 'EX', UNDER_WAY, 'NX')) === 'OK';
    if (!isFirst) return (await this.#earlier(name, kept.request)) as Answer;
    const result = await write.run().catch(async (error: unknown) => {
      await RELEASE.run(this.#redis, [name], [mine]).catch((failure: unknown) =>
        this.#log.failure('cannot release an idempotency key', failure),
      );
      throw error;
    });
    const keep = (what: Kept): Promise<void> => this.#keep({ actor: keyed.actor, name, mine }, what);
    try {
      const answer = await write.answer(result);
      await keep({ ...kept, answer });
      return answer;
    } catch (error) {
      await keep({ ...kept, isLost: true });
      throw error;
    }
  }

  /** Never rejects, because the write was done whether or not this succeeds. The key is held for a while even then. */
  async #keep({ actor, name, mine }: Held, kept: Kept): Promise<void> {
    const { idempotencyOf: places } = this.#keys;
    const text = JSON.stringify(kept);
    const keys = [name, places + auditShareOf(actor), `${places}all`];
    const most = [Math.ceil(text.length / CHARACTERS), this.#most.ofCaller, this.#most.ofAll];
    try {
      await tryAgain(() => KEEP_ANSWER.run(this.#redis, keys, [mine, text, KEPT, ...most]));
    } catch (error) {
      this.#log.failure('cannot keep the answer to a write', error);
    }
  }

  async #earlier(name: string, request: string): Promise<unknown> {
    const deadline = performance.now() + PATIENCE;
    for (;;) {
      const kept = keptFor(request, await this.#redis.get(name));
      if (kept && 'answer' in kept) return kept.answer;
      if (kept?.isLost) throw new ProblemError('Conflict', { detail: LOST });
      if (!kept || performance.now() > deadline) throw new ProblemError('Conflict', { detail: NOT_OVER });
      await pause(LOOK_EVERY);
    }
  }
}

/** Undefined if nothing is kept. Throws a `ProblemError` if it is for another request. */
function keptFor(request: string, text: string | null): Kept | undefined {
  const kept = text === null ? undefined : (JSON.parse(text) as Kept);
  if (kept && kept.request !== request) throw new ProblemError('IdempotencyMismatch');
  return kept;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
