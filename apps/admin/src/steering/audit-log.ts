import type { AuditEntry } from '@reroll/core/history/entries';
import type { History } from '@reroll/redis/history/history';
import type { Logger } from '@reroll/shared/platform/logging/logging';
import { ProblemError } from '../http/problem-error.ts';
import { tryAgain } from './try-again.ts';

/** Entries a minute and actor for writes that were not done, so that no actor displaces the others from a bounded history. */
const MOST_UNDONE = 20;
/** Refusals a minute for all actors together, because an actor can use any number of names. */
const MOST_REFUSALS = 100;
const MINUTE = 60_000;
/** Actors whose refusals are counted. */
const MOST_ACTORS = 1_000;
/** Longer than the id of a job or of what is pending and the longest key of an object together. */
const LONGEST_TARGET = 400;

const NOT_AUDITED =
  'the write was done, but it is missing in the audit log, because Redis did not answer. The log of the admin has it';

export type Audited = Omit<AuditEntry, 'at'>;

/** The start of the count (by `performance.now()`), and the count. */
interface Counted {
  readonly since: number;
  readonly count: number;
}

/** Records who did what, in the history and in the log, which works even while Redis is unreachable. */
export class AuditLog {
  readonly #history: Pick<History, 'addAudit'>;
  readonly #log: Logger;
  readonly #undone = new Map<string, Counted>();
  #refusals: Counted = { since: 0, count: 0 };

  constructor(by: { history: Pick<History, 'addAudit'>; log: Logger }) {
    this.#history = by.history;
    this.#log = by.log;
  }

  /** Records a write that was done. Rejects with a `ProblemError` if Redis cannot be reached; then only the log has it. */
  async addDone(entry: Omit<Audited, 'result'>): Promise<{ id: string; at: number }> {
    const audited = this.#logged({ ...entry, result: 'done' });
    try {
      return { id: await tryAgain(() => this.#history.addAudit(audited)), at: audited.at };
    } catch (error) {
      this.#failed(entry, error);
      throw new ProblemError('Internal', { detail: NOT_AUDITED });
    }
  }

  /** Records a write that was not done. Never rejects: the caller gets the first failure, not this one. */
  async addUndone(entry: Audited): Promise<void> {
    if (this.#isTooMany(entry)) return this.#log.info('audit', { ...bounded(entry), kept: false });
    await this.#history.addAudit(this.#logged(entry)).catch((error: unknown) => this.#failed(entry, error));
  }

  #logged(audited: Audited): AuditEntry {
    const entry = bounded(audited);
    this.#log.info('audit', { ...entry });
    return { at: Date.now(), ...entry };
  }

  #failed({ requestId }: Pick<Audited, 'requestId'>, error: unknown): void {
    this.#log.failure('cannot write an entry of the audit log', error, { requestId });
  }

  #isTooMany({ actor, result }: Audited): boolean {
    const own = oneMore(this.#undone.get(actor));
    this.#undone.delete(actor);
    this.#undone.set(actor, own);
    if (this.#undone.size > MOST_ACTORS) {
      const [oldest] = this.#undone.keys();
      if (oldest !== undefined) this.#undone.delete(oldest);
    }
    if (own.count > MOST_UNDONE) return true;
    if (result !== 'refused') return false;
    this.#refusals = oneMore(this.#refusals);
    return this.#refusals.count > MOST_REFUSALS;
  }
}

function oneMore(present: Counted | undefined): Counted {
  const now = performance.now();
  if (!present || now - present.since >= MINUTE) return { since: now, count: 1 };
  return { since: present.since, count: present.count + 1 };
}

function bounded(entry: Audited): Audited {
  return { ...entry, target: entry.target.slice(0, LONGEST_TARGET) };
}
