import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Ledger } from '@reroll/shared/core/ledger/ledger';

/**
 * Judges what the patterns of a namespace left over, a little in each turn of the event loop, so that no other event
 * and no timer waits for it.
 */
export class PatternTurns {
  readonly #ledger: Pick<Ledger, 'judgeSome' | 'hasUnjudged'>;
  readonly #judged: () => void;
  #running: Promise<void> | null = null;
  #isStopped = false;

  /** `judged` is called after each turn. */
  constructor(ledger: Pick<Ledger, 'judgeSome' | 'hasUnjudged'>, judged: () => void) {
    this.#ledger = ledger;
    this.#judged = judged;
  }

  /** To be called after anything was told to the ledger. */
  kick(): void {
    if (this.#isStopped || this.#running || !this.#ledger.hasUnjudged) return;
    this.#running = this.#run().finally(() => {
      this.#running = null;
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    for (let isMore = true; isMore && !this.#isStopped;) {
      await nextTurn();
      isMore = this.#ledger.judgeSome();
      this.#judged();
    }
  }
}
