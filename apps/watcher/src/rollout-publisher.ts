import type { RolloutWriter } from '@reroll/shared/catalog/rollout-writer';
import type { RolloutEntry } from '@reroll/shared/core/history/entries';
import type { WorkloadKey } from '@reroll/shared/core/model';
import type { RolloutTracker } from '@reroll/shared/core/rollouts/rollout-tracker';

/** Workloads in one call of the script. */
const MOST = 250;
/** So long (ms) a count that moved may wait for others: a rollout of many pods is a write a second, not one a pod. */
const PATIENCE = 1_000;

/** Carries what the tracker has to tell of rollouts to Redis, many in one call. */
export class RolloutPublisher {
  readonly #tracker: RolloutTracker;
  readonly #writer: Pick<RolloutWriter, 'write' | 'underWay'>;
  #writtenAt = 0;

  constructor(tracker: RolloutTracker, writer: Pick<RolloutWriter, 'write' | 'underWay'>) {
    this.#tracker = tracker;
    this.#writer = writer;
  }

  /** Milliseconds until something is to be written; undefined: nothing is. */
  get dueIn(): number | undefined {
    if (!this.#tracker.isDirty) return undefined;
    return this.#tracker.isUrgent ? 0 : Math.max(0, this.#writtenAt + PATIENCE - Date.now());
  }

  /** False if a newer leader has written. Rejects with ioredis' error; what was not written stays to be. */
  async flush(term: string): Promise<boolean> {
    while (this.#tracker.isDirty) {
      const changes = this.#tracker.take(MOST);
      try {
        if (!(await this.#writer.write(term, changes))) return false;
      } catch (error) {
        this.#tracker.giveBack(changes);
        throw error;
      }
      this.#writtenAt = Date.now();
    }
    return true;
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
