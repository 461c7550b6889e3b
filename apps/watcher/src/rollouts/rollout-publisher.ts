import type { RolloutWriter } from '@reroll/redis/history/rollout-writer';
import type { RolloutEntry } from '@reroll/core/history/entries';
import type { WorkloadKey } from '@reroll/core/model';
import type { RolloutTracker } from '@reroll/core/rollouts/rollout-tracker';

/** Workloads in one call of the script. */
export const ROLLOUTS_PER_WRITE = 250;
/** So long (ms) a count that moved may wait for others: a rollout of many pods is a write a second, not one a pod. */
const PATIENCE = 1_000;
/** Pauses (ms) after a write that failed; doubled each time, for ever. */
const MIN_PAUSE = 100;
const MAX_PAUSE = 5_000;

/** Carries what the tracker has to tell of rollouts to Redis, many in one call. */
export class RolloutPublisher {
  readonly #tracker: RolloutTracker;
  readonly #writer: Pick<RolloutWriter, 'write' | 'underWay'>;
  #writtenAt = 0;
  #pause = MIN_PAUSE;
  #notBefore = 0;

  constructor(tracker: RolloutTracker, writer: Pick<RolloutWriter, 'write' | 'underWay'>) {
    this.#tracker = tracker;
    this.#writer = writer;
  }

  /** Milliseconds until something is to be written; undefined: nothing is. */
  get dueIn(): number | undefined {
    if (!this.#tracker.isDirty) return undefined;
    const due = this.#tracker.isUrgent ? 0 : this.#writtenAt + PATIENCE;
    return Math.max(0, Math.max(due, this.#notBefore) - Date.now());
  }

  /**
   * One call at most, whatever is left to be written: if anything is due, or one of `first` is to be written. Those go
   * before all others; they are at most `ROLLOUTS_PER_WRITE`. False if a newer leader has written. Rejects with
   * ioredis' error; what was not written stays to be, and nothing is tried for a while.
   */
  async write(term: string, first: readonly WorkloadKey[]): Promise<boolean> {
    if (this.dueIn !== 0 && (Date.now() < this.#notBefore || !this.#tracker.isDirtyAt(first))) return true;
    const changes = this.#tracker.take(ROLLOUTS_PER_WRITE, first);
    try {
      const isTaken = await this.#writer.write(term, changes);
      this.#writtenAt = Date.now();
      this.#pause = MIN_PAUSE;
      return isTaken;
    } catch (error) {
      this.#tracker.giveBack(changes);
      this.#notBefore = Date.now() + this.#pause;
      this.#pause = Math.min(this.#pause * 2, MAX_PAUSE);
      throw error;
    }
  }

  /** What an earlier leader left as under way. Rejects with ioredis' error. */
  async underWay(): Promise<Iterable<RolloutEntry>> {
    return (await this.#writer.underWay()).values();
  }

  /** Begins where that leader ended. `isThere`: undefined, if it is not known yet. */
  takeOver(written: Iterable<RolloutEntry>, isThere: (workload: WorkloadKey) => boolean | undefined): void {
    this.#tracker.assertAll();
    this.#tracker.reconcile(written, { isThere, now: Date.now() });
  }

  assertAll(): void {
    this.#tracker.assertAll();
  }

  /** A standby writes nothing. */
  discard(): void {
    this.#tracker.discard();
  }
}
