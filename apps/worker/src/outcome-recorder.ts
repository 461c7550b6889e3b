import type { History } from '@reroll/shared/catalog/history';
import type { ChangeEntry, OutcomeEntry } from '@reroll/shared/core/history/entries';
import type { Logger } from '@reroll/shared/platform/logging';

/**
 * Writes the history beside the work: a reload that was done does not fail because its entry could not be
 * written. What cannot be written is logged.
 */
export class OutcomeRecorder {
  readonly #history: History;
  readonly #log: Logger;
  readonly #pending = new Set<Promise<void>>();

  constructor(history: History, log: Logger) {
    this.#history = history;
    this.#log = log;
  }

  addChange(entry: ChangeEntry): void {
    this.#write(this.#history.addChange(entry), { source: entry.source ?? 'none' });
  }

  addOutcome(entry: OutcomeEntry): void {
    this.#write(this.#history.addOutcome(entry), { workload: entry.workload, reason: entry.reason });
  }

  /** Resolves when all is written that was under way. Each write has the deadline of a Redis command. */
  async flush(): Promise<void> {
    await Promise.all(this.#pending);
  }

  #write(writing: Promise<void>, about: Readonly<Record<string, string>>): void {
    const done = writing
      .catch((error: unknown) => this.#log.failure('an entry of the history was not written', error, about))
      .finally(() => this.#pending.delete(done));
    this.#pending.add(done);
  }
}
