import type { SourceKey, WorkloadKey } from '../model.ts';
import { takeFrom } from '../take-from.ts';
import type { SourceHashes } from './rows.ts';

/**
 * Why a workload is pending. `owed`: it needs a reload (the API and the metrics use this name). `correct`: only its record is
 * behind, because of adoption or because its owner's rollout brought the data. A correction can wait for a token of the adoption
 * rate.
 */
export type PendingCause = 'owed' | 'correct';

/** How a change was found that needs a change job: by a live event, or by a list or resync. */
export type FoundBy = 'event' | 'list';

/** Progress of writing every row of one sort. */
interface Every<K> {
  readonly rest: Iterator<K>;
  /** Keys that changed and were taken meanwhile. */
  readonly written: Set<K>;
}

/** Keys of rows to write; for a source, also how its change was found if the change needs a job. */
export interface RowKeys {
  readonly sources: readonly (readonly [SourceKey, FoundBy | undefined])[];
  readonly workloads: readonly WorkloadKey[];
  /** Of sources among them that an event showed with other data. */
  readonly readings: ReadonlyMap<SourceKey, SourceHashes>;
}

export interface Jobs {
  /** Sources whose data changed, for one change job each. */
  readonly changes: readonly SourceKey[];
  readonly reloads: readonly (readonly [WorkloadKey, PendingCause])[];
  /** Workloads with a pause; their rows hold the time at which it ends. */
  readonly resumes: readonly WorkloadKey[];
}

const NO_JOBS: Jobs = { changes: [], reloads: [], resumes: [] };

interface RowKeyOf {
  readonly sources: SourceKey;
  readonly workloads: WorkloadKey;
}

/** Rows of one sort that are taken for one write. */
class Taken<K> {
  readonly keys: K[] = [];
  readonly #takesMore: (key: K) => boolean;
  #isFull = false;

  constructor(takesMore: (key: K) => boolean) {
    this.#takesMore = takesMore;
  }

  hasRoom(most: number): boolean {
    return !this.#isFull && this.keys.length < most;
  }

  add(key: K): void {
    this.keys.push(key);
    this.#isFull = !this.#takesMore(key);
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

  enqueueReload(key: WorkloadKey, cause: PendingCause): void {
    if (cause === 'owed' || !this.reloads.has(key)) this.reloads.set(key, cause);
  }

  takeJobs(most: number): Jobs {
    const reloads: [WorkloadKey, PendingCause][] = [];
    for (const reload of this.reloads) {
      if (reloads.length === most) break;
      reloads.push(reload);
    }
    for (const [key] of reloads) this.reloads.delete(key);
    return { changes: takeFrom(this.changes, most), reloads, resumes: takeFrom(this.resumes, most) };
  }
}

/** The publisher's view of an outbox: it takes rows before the jobs that need them, and puts back what it could not write. */
export type Drain = Pick<
  Outbox,
  | 'sources'
  | 'workloads'
  | 'changes'
  | 'reloads'
  | 'resumes'
  | 'hasRows'
  | 'isEmpty'
  | 'takeRows'
  | 'putBackRows'
  | 'takeJobs'
  | 'putBackJobs'
  | 'clear'
>;

/**
 * The writes and jobs that the cluster state has decided on. It holds only keys, and hashes of sources that changed, so it never outgrows
 * the cluster.
 *
 * Rows and jobs gather in an open lot. When the jobs of the closed lot are taken, the open one is closed and another is begun. Jobs
 * of a lot wait for its rows only, so rows that change all the time hold up nothing.
 */
export class Outbox {
  #closed = new Lot();
  #open = new Lot();
  #everySource: Every<SourceKey> | undefined;
  #everyWorkload: Every<WorkloadKey> | undefined;
  /** How the changes were found that have a change job or will have one, until the row is taken. */
  readonly #foundBy = new Map<SourceKey, FoundBy>();
  readonly #readings = new Map<SourceKey, SourceHashes>();

  /** Rows that changed, in a new set as all of these. */
  get sources(): ReadonlySet<SourceKey> {
    return new Set([...this.#closed.sources, ...this.#open.sources]);
  }

  get workloads(): ReadonlySet<WorkloadKey> {
    return new Set([...this.#closed.workloads, ...this.#open.workloads]);
  }

  get changes(): ReadonlySet<SourceKey> {
    return new Set([...this.#closed.changes, ...this.#open.changes]);
  }

  get reloads(): ReadonlyMap<WorkloadKey, PendingCause> {
    return new Map([...this.#closed.reloads, ...this.#open.reloads]);
  }

  get resumes(): ReadonlySet<WorkloadKey> {
    return new Set([...this.#closed.resumes, ...this.#open.resumes]);
  }

  /** Queues a row for writing, or for removal if the cluster state no longer has it. */
  writeSource(key: SourceKey): void {
    this.#open.sources.add(key);
  }

  writeWorkload(key: WorkloadKey): void {
    this.#open.workloads.add(key);
  }

  /** Queues every row for writing, beside the rows that changed. Reads the keys only when they are taken, so the call is cheap. */
  writeAll(sources: Iterable<SourceKey>, workloads: Iterable<WorkloadKey>): void {
    this.#everySource = { rest: sources[Symbol.iterator](), written: new Set() };
    this.#everyWorkload = { rest: workloads[Symbol.iterator](), written: new Set() };
  }

  /** Notes how the change of a source was found that needs a change job. */
  found(key: SourceKey, by: FoundBy): void {
    if (by === 'event' || !this.#foundBy.has(key)) this.#foundBy.set(key, by);
  }

  /** Keeps the hashes of a source until its row is taken. */
  leaveReading(key: SourceKey, reading: SourceHashes): void {
    this.#readings.set(key, reading);
  }

  /** Beside a job for the same of the closed lot, because that one may go before the row of what happened now. */
  enqueueChange(key: SourceKey): void {
    this.#open.changes.add(key);
  }

  /** For a source whose row is written: a waiting job will find it. */
  enqueueWritten(key: SourceKey): void {
    if (!this.#hasChange(key)) this.#open.changes.add(key);
  }

  enqueueReload(key: WorkloadKey, cause: PendingCause): void {
    this.#open.enqueueReload(key, cause);
  }

  enqueueResume(key: WorkloadKey): void {
    this.#open.resumes.add(key);
  }

  /** Drops the jobs of a source that left the scope. */
  dropChangeOf(key: SourceKey): void {
    for (const lot of [this.#closed, this.#open]) lot.changes.delete(key);
    this.#foundBy.delete(key);
    this.#readings.delete(key);
  }

  dropReloadOf(key: WorkloadKey): void {
    for (const lot of [this.#closed, this.#open]) {
      lot.reloads.delete(key);
      lot.resumes.delete(key);
    }
  }

  get hasRows(): boolean {
    return this.#closed.hasRows || this.#open.hasRows || this.#writesEvery;
  }

  isEmpty(): boolean {
    return !this.hasRows && !this.#closed.hasJobs && !this.#open.hasJobs;
  }

  get #writesEvery(): boolean {
    return this.#everySource !== undefined || this.#everyWorkload !== undefined;
  }

  /**
   * Takes at most `most` rows of each sort, oldest first, and no further workload once `takesMore` has returned false for one. While
   * every row is to be written, rows that changed are at most half of them, so that this comes to an end.
   */
  takeRows(most: number, takesMore: (workload: WorkloadKey) => boolean = () => true): RowKeys {
    const half = Math.ceil(most / 2);
    const takenSources = new Taken<SourceKey>(() => true);
    this.#takeChanged('sources', takenSources, this.#everySource ? half : most);
    if (this.#everySource && fill(takenSources, this.#everySource, most)) this.#everySource = undefined;
    const takenWorkloads = new Taken(takesMore);
    this.#takeChanged('workloads', takenWorkloads, this.#everyWorkload ? half : most);
    if (this.#everyWorkload && fill(takenWorkloads, this.#everyWorkload, most))
      this.#everyWorkload = undefined;
    const [sources, workloads] = [takenSources.keys, takenWorkloads.keys];
    this.#written('sources', sources);
    this.#written('workloads', workloads);
    return {
      sources: sources.map((key) => [key, this.#takeFoundBy(key)] as const),
      workloads,
      readings: this.#takeReadings(sources),
    };
  }

  /** Readings are not put back: without one, a worker reads the source. */
  putBackRows({ sources, workloads }: Omit<RowKeys, 'readings'>): void {
    for (const [key, foundBy] of sources) {
      this.#closed.sources.add(key);
      if (foundBy) this.found(key, foundBy);
    }
    for (const key of workloads) this.#closed.workloads.add(key);
  }

  /** Takes at most `most` jobs of each sort, oldest first; none before the rows that they need are taken. */
  takeJobs(most: number): Jobs {
    if (this.#open.hasJobs && !this.#closed.hasRows && !this.#closed.hasJobs) {
      this.#closed = this.#open;
      this.#open = new Lot();
    }
    return this.#closed.hasRows || this.#writesEvery ? NO_JOBS : this.#closed.takeJobs(most);
  }

  putBackJobs({ changes, reloads, resumes }: Jobs): void {
    for (const key of changes) this.#closed.changes.add(key);
    for (const [key, cause] of reloads) this.#closed.enqueueReload(key, cause);
    for (const key of resumes) this.#closed.resumes.add(key);
  }

  clear(): void {
    this.#closed = new Lot();
    this.#open = new Lot();
    this.#everySource = undefined;
    this.#everyWorkload = undefined;
    this.#foundBy.clear();
    this.#readings.clear();
  }

  #takeChanged<Sort extends 'sources' | 'workloads'>(
    sort: Sort,
    taken: Taken<RowKeyOf[Sort]>,
    most: number,
  ): void {
    const open = this.#open[sort] as Set<RowKeyOf[Sort]>;
    taken.addFrom(this.#closed[sort] as Set<RowKeyOf[Sort]>, most);
    for (const key of taken.keys) open.delete(key);
    taken.addFrom(open, most);
  }

  /** A row is written as it is then, so it waits nowhere else. */
  #written(sort: 'sources' | 'workloads', keys: readonly (SourceKey | WorkloadKey)[]): void {
    for (const lot of [this.#closed, this.#open])
      for (const key of keys) (lot[sort] as Set<SourceKey | WorkloadKey>).delete(key);
  }

  #hasChange(key: SourceKey): boolean {
    return this.#closed.changes.has(key) || this.#open.changes.has(key);
  }

  #takeReadings(keys: readonly SourceKey[]): Map<SourceKey, SourceHashes> {
    const taken = new Map<SourceKey, SourceHashes>();
    if (this.#readings.size === 0) return taken;
    for (const key of keys) {
      const reading = this.#readings.get(key);
      if (reading && this.#readings.delete(key)) taken.set(key, reading);
    }
    return taken;
  }

  #takeFoundBy(key: SourceKey): FoundBy | undefined {
    const by = this.#foundBy.get(key) ?? (this.#hasChange(key) ? 'list' : undefined);
    this.#foundBy.delete(key);
    return by;
  }
}

/** Fills up with rows that were not written yet. Returns true if none are left. */
function fill<K>(taken: Taken<K>, { rest, written }: Every<K>, most: number): boolean {
  for (const key of taken.keys) written.add(key);
  while (taken.hasRoom(most)) {
    const next = rest.next();
    if (next.done === true) return true;
    if (!written.has(next.value)) taken.add(next.value);
  }
  return false;
}
