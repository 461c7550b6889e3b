import type { AuditEntry } from '@reroll/core/history/entries';
import type { History } from '@reroll/redis/history/history';
import type { Logger } from '@reroll/shared/platform/logging/logging';

/** What was not done and is kept, a minute and actor: so that nobody drives the others out of a history that is bounded. */
const MOST_UNDONE = 20;
/** Refusals a minute that are kept of all actors together: names cost nothing. */
const MOST_REFUSALS = 100;
const MINUTE = 60_000;
/** Actors whose refusals are counted. */
const MOST_ACTORS = 1_000;
/** Characters. */
const LONGEST_TARGET = 300;

export type Audited = Omit<AuditEntry, 'at'>;

/** Since when (by `performance.now()`), and how many. */
interface Counted {
  readonly since: number;
  readonly count: number;
}

/** Who did what, in the history and in the log: the log has it also while Redis is away. */
export class AuditLog {
  readonly #history: Pick<History, 'addAudit'>;
  readonly #log: Logger;
  readonly #undone = new Map<string, Counted>();
  #refusals: Counted = { since: 0, count: 0 };

  constructor(by: { history: Pick<History, 'addAudit'>; log: Logger }) {
    this.#history = by.history;
    this.#log = by.log;
  }

  /** Rejects if Redis cannot be reached. */
  async add(audited: Audited): Promise<{ id: string; at: number }> {
    const at = Date.now();
    const entry = bounded(audited);
    this.#log.info('audit', { ...entry });
    return { id: await this.#history.addAudit({ at, ...entry }), at };
  }

  /** What was not done: never rejects, the caller is told of the first failure and not of this one. */
  async addUndone(entry: Audited): Promise<void> {
    if (this.#isTooMany(entry)) return this.#log.info('audit', { ...bounded(entry), kept: false });
    await this.add(entry).catch((error: unknown) =>
      this.#log.failure('an entry of the audit log could not be written', error, {
        requestId: entry.requestId,
      }),
    );
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
