import type { AuditEntry } from '@reroll/shared/core/history/entries';
import type { History } from '@reroll/shared/catalog/history';
import type { Logger } from '@reroll/shared/platform/logging';

/** Refusals a minute and actor that are kept, so that nobody drives the others out of a history that is bounded. */
const MOST_REFUSALS = 20;
const MINUTE = 60_000;
/** Actors whose refusals are counted. */
const MOST_ACTORS = 1_000;

export type Audited = Omit<AuditEntry, 'at'>;

/** Who did what, in the history and in the log: the log has it also while Redis is away. */
export class AuditLog {
  readonly #history: Pick<History, 'addAudit'>;
  readonly #log: Logger;
  readonly #refusals = new Map<string, { since: number; count: number }>();

  constructor(by: { history: Pick<History, 'addAudit'>; log: Logger }) {
    this.#history = by.history;
    this.#log = by.log;
  }

  /** Rejects if Redis cannot be reached. */
  async add(entry: Audited): Promise<{ id: string; at: number }> {
    const at = Date.now();
    this.#log.info('audit', { ...entry });
    return { id: await this.#history.addAudit({ at, ...entry }), at };
  }

  /** What was not done: never rejects, the caller is told of the first failure and not of this one. */
  async addUndone(entry: Audited): Promise<void> {
    if (this.#isTooMany(entry.actor)) return this.#log.info('audit', { ...entry, kept: false });
    await this.add(entry).catch((error: unknown) =>
      this.#log.failure('an entry of the audit log could not be written', error, {
        requestId: entry.requestId,
      }),
    );
  }

  #isTooMany(actor: string): boolean {
    const now = performance.now();
    const present = this.#refusals.get(actor);
    const counted = present && now - present.since < MINUTE ? present : { since: now, count: 0 };
    counted.count += 1;
    this.#refusals.delete(actor);
    this.#refusals.set(actor, counted);
    if (this.#refusals.size > MOST_ACTORS) {
      const [oldest] = this.#refusals.keys();
      if (oldest !== undefined) this.#refusals.delete(oldest);
    }
    return counted.count > MOST_REFUSALS;
  }
}
