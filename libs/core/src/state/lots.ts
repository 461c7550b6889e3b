import type { SourceKey, WorkloadKey } from '../model.ts';
import type { PendingCause } from './outbox.ts';

export interface RowKeyOf {
  readonly sources: SourceKey;
  readonly workloads: WorkloadKey;
}
export type Sort = keyof RowKeyOf;

/** Rows of one sort that are taken for one write. */
export class Taken<K> {
  readonly keys: K[] = [];
  readonly #usedBy: (key: K) => number;
  #used = 0;

  /** `usedBy` is called for each row, and returns the part of the write that is used then. */
  constructor(usedBy: (key: K) => number) {
    this.#usedBy = usedBy;
  }

  /** Whether there are fewer rows than `most`, and less than this part of the write is used. */
  hasRoom(most: number, part = 1): boolean {
    return this.#used < part && this.keys.length < most;
  }

  add(key: K): void {
    this.keys.push(key);
    this.#used = this.#usedBy(key);
  }

  addFrom(changed: Set<K>, most: number): void {
    for (const key of changed) {
      if (!this.hasRoom(most)) return;
      changed.delete(key);
      this.add(key);
    }
  }
}

/** Rows that changed, and the jobs that came with them. */
class Lot {
  readonly sources = new Set<SourceKey>();
  readonly workloads = new Set<WorkloadKey>();
  readonly changes = new Set<SourceKey>();
  readonly reloads = new Map<WorkloadKey, PendingCause>();
  readonly resumes = new Set<WorkloadKey>();

  get hasRows(): boolean {
    return this.sources.size + this.workloads.size > 0;
  }

  get hasJobs(): boolean {
    return this.changes.size + this.reloads.size + this.resumes.size > 0;
  }

  rows<S extends Sort>(sort: S): Set<RowKeyOf[S]> {
    return this[sort] as Set<RowKeyOf[Sort]> as Set<RowKeyOf[S]>;
  }

  enqueueReload(key: WorkloadKey, cause: PendingCause): void {
    if (cause === 'owed' || !this.reloads.has(key)) this.reloads.set(key, cause);
  }
}

/** Jobs that are taken at once. */
export class TakenJobs {
  readonly changes: SourceKey[] = [];
  readonly reloads: (readonly [WorkloadKey, PendingCause])[] = [];
  readonly resumes: WorkloadKey[] = [];
  readonly #most: number;

  /** `most`: of each sort. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Whether there is room for jobs of each sort. */
  get hasRoom(): boolean {
    return Math.max(this.changes.length, this.reloads.length, this.resumes.length) < this.#most;
  }

  addFrom({ changes, reloads, resumes }: Lot): void {
    move(changes, this.changes, this.#most);
    for (const reload of reloads) {
      if (this.reloads.length >= this.#most) break;
      reloads.delete(reload[0]);
      this.reloads.push(reload);
    }
    move(resumes, this.resumes, this.#most);
  }
}

function move<K>(from: Set<K>, to: K[], most: number): void {
  for (const key of from) {
    if (to.length >= most) return;
    from.delete(key);
    to.push(key);
  }
}

/**
 * The rows and jobs of one namespace. They gather in an open lot. When the jobs of the closed lot are taken, the open one is closed and
 * another is begun. Jobs of a lot wait for its rows only, so rows that change all the time hold up nothing.
 */
export class Lots {
  closed = new Lot();
  open = new Lot();

  get all(): readonly Lot[] {
    return [this.closed, this.open];
  }

  hasRows(sort: Sort): boolean {
    return this.closed[sort].size + this.open[sort].size > 0;
  }

  get hasJobs(): boolean {
    return this.closed.hasJobs || this.open.hasJobs;
  }

  takeRows<S extends Sort>(sort: S, taken: Taken<RowKeyOf[S]>, most: number): void {
    const before = taken.keys.length;
    const open = this.open.rows(sort);
    taken.addFrom(this.closed.rows(sort), most);
    for (const key of taken.keys.slice(before)) open.delete(key);
    taken.addFrom(open, most);
  }

  /** A row is written as it is then, so it waits nowhere else. */
  written(sort: Sort, key: SourceKey | WorkloadKey): void {
    for (const lot of this.all) (lot[sort] as Set<SourceKey | WorkloadKey>).delete(key);
  }

  /** Closes the open lot if it has jobs and nothing of the closed one is left. */
  close(): void {
    if (!this.open.hasJobs || this.closed.hasRows || this.closed.hasJobs) return;
    this.closed = this.open;
    this.open = new Lot();
  }

  /** Takes none before the rows that they need are taken. */
  takeJobs(taken: TakenJobs): void {
    if (!this.closed.hasRows) taken.addFrom(this.closed);
  }
}
