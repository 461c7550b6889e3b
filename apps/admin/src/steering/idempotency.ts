import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { RedisClient } from '@reroll/shared/catalog/redis';
import { ProblemError } from '../http/problem-error.ts';

/** How long an answer is kept (s). */
const KEPT = 86_400;
/** How long a write that is under way holds its key (s): longer than it may take, and not for ever if we die. */
const UNDER_WAY = 60;
/** How long a second request waits for the first, and how often it looks (ms). */
const PATIENCE = 5_000;
const LOOK_EVERY = 50;

/**
 * KEYS  1 the key
 * ARGV  1 what we wrote there
 * Removes it if it is still ours. Atomic because another may hold it by now.
 */
const RELEASE = `
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
`;

/** A request under a key of its caller's. */
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
  /** Absent while it is under way. */
  readonly answer?: unknown;
}

/** Writes that are done once for a key, and answered the same each time. */
export class Idempotency {
  readonly #redis: RedisClient;
  readonly #prefix: string;

  /** `prefix`: `CatalogKeys.idempotency`. */
  constructor(redis: RedisClient, prefix: string) {
    this.#redis = redis;
    this.#prefix = prefix;
  }

  /**
   * Does it, or gives what it gave before. Rejects with `IdempotencyMismatch` if the key was used for another request, with
   * `Conflict` if the first is not over in some seconds. A write that fails leaves nothing: it may be tried again.
   */
  async once<T>(keyed: Keyed, write: () => Promise<T>): Promise<T> {
    const name = this.#prefix + sha256(`${keyed.actor}\0${keyed.key}`);
    const request = sha256(keyed.request);
    const mine = JSON.stringify({ request, by: keyed.requestId } satisfies Kept);
    const isFirst = (await this.#redis.set(name, mine, 'EX', UNDER_WAY, 'NX')) === 'OK';
    if (!isFirst) return (await this.#earlier(name, request)) as T;
    try {
      const answer = await write();
      await this.#redis.set(name, JSON.stringify({ request, by: keyed.requestId, answer }), 'EX', KEPT);
      return answer;
    } catch (error) {
      await this.#redis.eval(RELEASE, 1, name, mine).catch(() => undefined);
      throw error;
    }
  }

  async #earlier(name: string, request: string): Promise<unknown> {
    const deadline = performance.now() + PATIENCE;
    for (;;) {
      const text = await this.#redis.get(name);
      const kept = text === null ? undefined : (JSON.parse(text) as Kept);
      if (kept && kept.request !== request) throw new ProblemError('IdempotencyMismatch');
      if (kept && 'answer' in kept) return kept.answer;
      if (!kept || performance.now() > deadline)
        throw new ProblemError('Conflict', {
          detail: 'another request with this idempotency key has failed, or is not over: try again',
        });
      await pause(LOOK_EVERY);
    }
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
