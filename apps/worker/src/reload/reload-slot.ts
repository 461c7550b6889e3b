import type { RateBudget } from '@reroll/redis/processes/rate';
import type { WorkloadKey } from '@reroll/core/model';
import { jobErrorOf, NotYetError } from '../job-error.ts';

/** The slot of one reload job under `--max-reloads-per-minute`. Costs nothing without a limit. */
export class ReloadSlot {
  readonly #budget: Pick<RateBudget, 'ask' | 'claim' | 'end'>;
  readonly #workload: WorkloadKey;
  /** `claimed`: the slot must be ended. A waiting job keeps its place in the line. */
  #state: 'none' | 'claimed' | 'used' | 'ended' = 'none';

  constructor(budget: Pick<RateBudget, 'ask' | 'claim' | 'end'>, workload: WorkloadKey) {
    this.#budget = budget;
    this.#workload = workload;
  }

  /** If the workload waits for a slot, rejects with `NotYetError` until it is its turn, which claims the slot. */
  async awaitTurn(): Promise<void> {
    const wait = await this.#budget.ask(this.#workload);
    if (wait !== undefined) this.#settle(wait);
  }

  /** Claims a slot unless it has one, if it is expected to need it. Rejects with `NotYetError` if it has to wait. */
  async claimIf(isExpected: () => Promise<boolean>): Promise<void> {
    if (this.#state === 'none' && (await isExpected())) await this.#claim();
  }

  /**
   * Sends a reload with the slot, after claiming one if none is held. A failed reload uses up the slot, because it may
   * have been done, unless the workload has no room for it.
   */
  async use<Sent extends object>(
    send: () => Promise<Sent | false | undefined>,
  ): Promise<Sent | false | undefined> {
    if (this.#state === 'none') await this.#claim();
    this.#state = 'used';
    try {
      const sent = await send();
      if (!sent) this.#state = 'claimed';
      return sent;
    } catch (error) {
      if (jobErrorOf(error).reason === 'AnnotationsFull') this.#state = 'claimed';
      throw error;
    }
  }

  /** Ends the slot; an unused one is returned. */
  async end(): Promise<void> {
    if (this.#state !== 'claimed' && this.#state !== 'used') return;
    const isUsed = this.#state === 'used';
    this.#state = 'ended';
    await this.#budget.end(this.#workload, isUsed);
  }

  async #claim(): Promise<void> {
    this.#settle(await this.#budget.claim(this.#workload));
  }

  #settle(wait: number): void {
    if (wait > 0) throw new NotYetError('RateLimited', wait);
    this.#state = 'claimed';
  }
}
