import type { SourceKey, WorkloadKey } from '../model.ts';

/**
 * Why a workload is woken. `owed`: it runs other data than it should. `correct`: only its record is behind
 * (adoption, or its owner's own rollout brought the data), which can wait for a token of the adoption rate.
 */
export type WakeCause = 'owed' | 'correct';

/** How a change of a source that is to be told of was found: by a live event, or by a list or a sweep. */
export type FoundBy = 'event' | 'list';

/**
 * What the ledger wants done, in the order in which it must be done: catalog rows before jobs. A publisher
 * drains it; what could not be written is put back. Identity only, so it never grows past the cluster.
 */
export class Outbox {
  /** Rows to write, or to remove if the ledger no longer has them. */
  readonly sources = new Set<SourceKey>();
  readonly workloads = new Set<WorkloadKey>();
  /** Sources whose data changed: one change job each. */
  readonly changes = new Set<SourceKey>();
  /** Those of them that a live event showed; each until its row is taken. */
  readonly live = new Set<SourceKey>();
  readonly wakes = new Map<WorkloadKey, WakeCause>();
  /** Workloads whose pause ends at the time that their row says. */
  readonly resumes = new Set<WorkloadKey>();

  wake(key: WorkloadKey, cause: WakeCause): void {
    if (cause === 'owed' || !this.wakes.has(key)) this.wakes.set(key, cause);
  }

  /** At most so many, those that have waited for longest. */
  takeWakes(most: number): (readonly [WorkloadKey, WakeCause])[] {
    const taken = [...this.wakes].slice(0, most);
    for (const [key] of taken) this.wakes.delete(key);
    return taken;
  }

  change(key: SourceKey, by: FoundBy): void {
    this.changes.add(key);
    if (by === 'event') this.live.add(key);
  }

  /** How the change of the row that is to be written was found; undefined: no change job comes. To be asked once. */
  takeFoundBy(key: SourceKey): FoundBy | undefined {
    if (this.live.delete(key)) return 'event';
    return this.changes.has(key) ? 'list' : undefined;
  }

  /** Of a source or a workload that is out of scope now. */
  dropJobsOf(key: SourceKey | WorkloadKey): void {
    this.changes.delete(key);
    this.live.delete(key);
    this.wakes.delete(key);
    this.resumes.delete(key);
  }

  isEmpty(): boolean {
    return (
      this.sources.size + this.workloads.size + this.changes.size + this.wakes.size + this.resumes.size === 0
    );
  }

  clear(): void {
    this.sources.clear();
    this.workloads.clear();
    this.changes.clear();
    this.live.clear();
    this.wakes.clear();
    this.resumes.clear();
  }
}
