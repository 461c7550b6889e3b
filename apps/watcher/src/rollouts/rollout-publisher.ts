import type { RolloutWriter } from '@reroll/redis/history/rollout-writer';
import type { RolloutsWritten } from '@reroll/redis/history/rollouts';
import type { WorkloadKey } from '@reroll/core/model';
import type { RolloutTracker } from '@reroll/core/rollouts/rollout-tracker';

/** Workloads in one call of the script. */
export const ROLLOUTS_PER_WRITE = 250;
/** Milliseconds that changed counts may wait, so that a large rollout is one write a second, not one per pod. */
const PATIENCE = 1_000;
/** Pause (ms) after a failed write, doubled each time up to the maximum. Retries never end. */
const MIN_PAUSE = 100;
const MAX_PAUSE = 5_000;

type WriterPort = Pick<RolloutWriter, 'write' | 'written'>;

export class RolloutPublisher {
  readonly #tracker: RolloutTracker;
  readonly #writer: WriterPort;
  /** Since when this leader knows when rollouts were complete (Unix milliseconds); undefined: it is written. */
  #since: number | undefined;
  #writtenAt = 0;
  #pause = MIN_PAUSE;
  #notBefore = 0;

  constructor(tracker: RolloutTracker, writer: WriterPort) {
    this.#tracker = tracker;
    this.#writer = writer;
  }

  /** Milliseconds until the next write is due; undefined if there is nothing to write. */
  get dueIn(): number | undefined {
    if (!this.#tracker.isDirty && !this.#tracker.completions.isDirty && this.#since === undefined)
      return undefined;
    const due = this.#tracker.isUrgent || this.#since !== undefined ? 0 : this.#writtenAt + PATIENCE;
    return Math.max(0, Math.max(due, this.#notBefore) - Date.now());
  }

  /**
   * Makes at most one call, if anything is due or one of `first` has changes. Those (at most `ROLLOUTS_PER_WRITE`) go
   * before all others. False if a newer leader has written. Rejects with ioredis' error; the changes are then kept
   * and retried after a pause.
   */
  async write(term: string, first: readonly WorkloadKey[]): Promise<boolean> {
    if (this.dueIn !== 0 && (Date.now() < this.#notBefore || !this.#tracker.isDirtyAt(first))) return true;
    const { completions } = this.#tracker;
    const changes = this.#tracker.take(ROLLOUTS_PER_WRITE, first);
    // In the same call, so that no reader finds neither the rollout nor its end.
    const { put, removed } = completions.take(ROLLOUTS_PER_WRITE, changes.removed);
    const isShown = (workload: WorkloadKey): boolean =>
      completions.has(workload) || this.#tracker.tracked.has(workload);
    const since = this.#since;
    try {
      const isTaken = await this.#writer.write(term, {
        ...changes,
        completed: put,
        removed: [...changes.removed, ...removed].filter((workload) => !isShown(workload)),
        since,
      });
      if (this.#since === since) this.#since = undefined;
      this.#writtenAt = Date.now();
      this.#pause = MIN_PAUSE;
      return isTaken;
    } catch (error) {
      this.#tracker.giveBack(changes);
      completions.giveBack({ put, removed });
      this.#notBefore = Date.now() + this.#pause;
      this.#pause = Math.min(this.#pause * 2, MAX_PAUSE);
      throw error;
    }
  }

  /** What an earlier leader left. Rejects with ioredis' error. */
  async written(): Promise<RolloutsWritten> {
    return await this.#writer.written();
  }

  /** Continues where the earlier leader ended. `isThere` returns undefined while that is unknown. */
  takeOver(
    { underWay, completed }: RolloutsWritten,
    isThere: (workload: WorkloadKey) => boolean | undefined,
  ): void {
    this.#assertAll(completed);
    this.#tracker.reconcile(underWay.values(), { isThere, now: Date.now() });
  }

  assertAll(): void {
    this.#assertAll([]);
  }

  #assertAll(left: readonly WorkloadKey[]): void {
    this.#tracker.assertAll();
    this.#tracker.completions.assertAll(left);
    this.#since = Date.now();
  }

  /** A standby writes nothing. */
  discard(): void {
    this.#tracker.discard();
    this.#tracker.completions.discard();
  }
}
