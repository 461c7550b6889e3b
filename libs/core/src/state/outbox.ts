import { namespaceOf, type SourceKey, type WorkloadKey } from '../model.ts';
import { everySource, everyWorkload, ROWS_PER_TURN, type EveryRow, type Members } from './every-row.ts';
import { Lots, Taken, TakenJobs, type RowKeyOf, type Sort } from './lots.ts';
import type { SourceHashes } from './rows.ts';

/**
 * Why a workload is pending. `owed`: it needs a reload (the API and the metrics use this name). `correct`: only its record is
 * behind, because of adoption or because its owner's rollout brought the data. A correction can wait for a token of the adoption
 * rate.
 */
export type PendingCause = 'owed' | 'correct';

/** How a change was found that needs a change job: by a live event, or by a list or resync. */
export type FoundBy = 'event' | 'list';

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
 * the cluster. Namespaces take turns, and jobs wait for earlier rows of their own namespace only: see `Lots`.
 */
export class Outbox {
  readonly #lots = new Map<string, Lots>();
  /** Namespaces with rows, by their sort, and with jobs: those that have waited longest come first. */
  readonly #withRows = { sources: new Set<string>(), workloads: new Set<string>() };
  readonly #withJobs = new Set<string>();
  /** Those among them with other jobs than corrections, or that had such since they last had none. */
  readonly #urgent = new Set<string>();
  #everySource: EveryRow<'sources'> | undefined;
  #everyWorkload: EveryRow<'workloads'> | undefined;
  /** How the changes were found that have a change job or will have one, until the row is taken. */
  readonly #foundBy = new Map<SourceKey, FoundBy>();
  readonly #readings = new Map<SourceKey, SourceHashes>();

  /** Rows that changed, in a new set as all of these. */
  get sources(): ReadonlySet<SourceKey> {
    return new Set(this.#each(({ sources }) => sources));
  }

  get workloads(): ReadonlySet<WorkloadKey> {
    return new Set(this.#each(({ workloads }) => workloads));
  }

  get changes(): ReadonlySet<SourceKey> {
    return new Set(this.#each(({ changes }) => changes));
  }

  get reloads(): ReadonlyMap<WorkloadKey, PendingCause> {
    return new Map(this.#each(({ reloads }) => reloads));
  }

  get resumes(): ReadonlySet<WorkloadKey> {
    return new Set(this.#each(({ resumes }) => resumes));
  }

  /** Queues a row for writing, or for removal if the cluster state no longer has it. */
  writeSource(key: SourceKey): void {
    this.#addRow('sources', key, 'open');
  }

  writeWorkload(key: WorkloadKey): void {
    this.#addRow('workloads', key, 'open');
  }

  /**
   * Queues every row for writing, beside the rows that changed: sources by `<kind>/<namespace>`, workloads by namespace. Reads the keys
   * only when they are taken, so the call is cheap.
   */
  writeAll(sources: Members<SourceKey>, workloads: Members<WorkloadKey>): void {
    this.#everySource = everySource(sources);
    this.#everyWorkload = everyWorkload(workloads);
    for (const namespace of this.#urgent) this.#putFirst(namespace);
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
    this.#withJob(key).open.changes.add(key);
  }

  /** For a source whose row is written: a waiting job will find it. */
  enqueueWritten(key: SourceKey): void {
    if (!this.#hasChange(key)) this.enqueueChange(key);
  }

  enqueueReload(key: WorkloadKey, cause: PendingCause): void {
    this.#withJob(key, cause).open.enqueueReload(key, cause);
  }

  enqueueResume(key: WorkloadKey): void {
    this.#withJob(key).open.resumes.add(key);
  }

  /** Drops the jobs of a source that left the scope. */
  dropChangeOf(key: SourceKey): void {
    this.#drop(key, ({ changes }) => changes.delete(key));
    this.#foundBy.delete(key);
    this.#readings.delete(key);
  }

  dropReloadOf(key: WorkloadKey): void {
    this.#drop(key, ({ reloads, resumes }) => {
      reloads.delete(key);
      resumes.delete(key);
    });
  }

  get hasRows(): boolean {
    return this.#withRows.sources.size + this.#withRows.workloads.size > 0 || this.#writesEvery;
  }

  isEmpty(): boolean {
    return !this.hasRows && this.#withJobs.size === 0;
  }

  get #writesEvery(): boolean {
    return this.#everySource !== undefined || this.#everyWorkload !== undefined;
  }

  /** Whether rows of the namespace remain of every row to be written. */
  #waitsForRows(namespace: string): boolean {
    return (
      this.#everySource?.hasAllOf(namespace) === false || this.#everyWorkload?.hasAllOf(namespace) === false
    );
  }

  /** If every row is to be written, those of the namespace come first from now on. */
  #putFirst(namespace: string): void {
    this.#urgent.add(namespace);
    this.#everySource?.putFirst(namespace);
    this.#everyWorkload?.putFirst(namespace);
  }

  /**
   * Takes at most `most` rows of each sort. `usedBy` is called for each workload, and returns how much of the write is used then, from 0
   * to 1 or more. While every row is to be written, those rows may take half of the write first, so that this comes to an end; those of
   * namespaces with other jobs than corrections go before others.
   */
  takeRows(most: number, usedBy: (workload: WorkloadKey) => number = () => 0): RowKeys {
    const sources = new Taken<SourceKey>(() => 0);
    if (this.#take('sources', sources, { most, every: this.#everySource })) this.#everySource = undefined;
    const workloads = new Taken(usedBy);
    if (this.#take('workloads', workloads, { most, every: this.#everyWorkload }))
      this.#everyWorkload = undefined;
    return {
      sources: sources.keys.map((key) => [key, this.#takeFoundBy(key)] as const),
      workloads: workloads.keys,
      readings: this.#takeReadings(sources.keys),
    };
  }

  /** Readings are not put back: without one, a worker reads the source. */
  putBackRows({ sources, workloads }: Omit<RowKeys, 'readings'>): void {
    for (const [key, foundBy] of sources) {
      this.#addRow('sources', key, 'closed');
      if (foundBy) this.found(key, foundBy);
    }
    for (const key of workloads) this.#addRow('workloads', key, 'closed');
  }

  /** Takes at most `most` jobs of each sort; none of a namespace before the rows that they need are taken. */
  takeJobs(most: number): Jobs {
    const taken = new TakenJobs(most);
    // Without those that this puts at the end of the queue.
    const waiting = [...this.#withJobs];
    for (const namespace of waiting) {
      if (!taken.hasRoom) break;
      const lots = this.#lotsOf(namespace);
      lots.close();
      if (this.#waitsForRows(namespace)) continue;
      lots.takeJobs(taken);
      this.#withJobs.delete(namespace);
      this.#withJobs.add(namespace);
      this.#settle(namespace, lots);
    }
    return taken;
  }

  putBackJobs({ changes, reloads, resumes }: Jobs): void {
    for (const key of changes) this.#withJob(key).closed.changes.add(key);
    for (const [key, cause] of reloads) this.#withJob(key, cause).closed.enqueueReload(key, cause);
    for (const key of resumes) this.#withJob(key).closed.resumes.add(key);
  }

  clear(): void {
    this.#lots.clear();
    this.#withRows.sources.clear();
    this.#withRows.workloads.clear();
    this.#withJobs.clear();
    this.#urgent.clear();
    this.#everySource = undefined;
    this.#everyWorkload = undefined;
    this.#foundBy.clear();
    this.#readings.clear();
  }

  #lotsOf(namespace: string): Lots {
    const lots = this.#lots.get(namespace) ?? new Lots();
    this.#lots.set(namespace, lots);
    return lots;
  }

  *#each<T>(of: (lot: Lots['open']) => Iterable<T>): Generator<T, void, void> {
    for (const lots of this.#lots.values()) for (const lot of lots.all) yield* of(lot);
  }

  #addRow<S extends Sort>(sort: S, key: RowKeyOf[S], lot: 'open' | 'closed'): void {
    const namespace = namespaceOf(key);
    this.#lotsOf(namespace)[lot].rows(sort).add(key);
    this.#withRows[sort].add(namespace);
  }

  #withJob(key: SourceKey | WorkloadKey, cause?: PendingCause): Lots {
    const namespace = namespaceOf(key);
    this.#withJobs.add(namespace);
    if (cause !== 'correct' && !this.#urgent.has(namespace)) this.#putFirst(namespace);
    return this.#lotsOf(namespace);
  }

  #drop(key: SourceKey | WorkloadKey, from: (lot: Lots['open']) => void): void {
    const lots = this.#lots.get(namespaceOf(key));
    if (!lots) return;
    for (const lot of lots.all) from(lot);
    this.#settle(namespaceOf(key), lots);
  }

  /** Forgets that a namespace has rows or jobs if it has none. */
  #settle(namespace: string, lots: Lots): void {
    for (const sort of ['sources', 'workloads'] as const)
      if (!lots.hasRows(sort)) this.#withRows[sort].delete(namespace);
    if (!lots.hasJobs) {
      this.#withJobs.delete(namespace);
      this.#urgent.delete(namespace);
    }
    const isLeft = this.#withRows.sources.has(namespace) || this.#withRows.workloads.has(namespace);
    if (!isLeft && !lots.hasJobs) this.#lots.delete(namespace);
  }

  /** Returns true if every row has been taken. */
  #take<S extends Sort>(
    sort: S,
    taken: Taken<RowKeyOf[S]>,
    { most, every }: { most: number; every: EveryRow<S> | undefined },
  ): boolean {
    const isDone = every?.fill(taken, Math.ceil(most / 2), 1 / 2) ?? false;
    this.#written(sort, taken.keys);
    const before = taken.keys.length;
    this.#takeChanged(sort, taken, most);
    for (const key of taken.keys.slice(before)) every?.wrote(key);
    const isDoneNow = every?.fill(taken, most, 1) ?? false;
    this.#written(sort, taken.keys);
    return isDone || isDoneNow;
  }

  #takeChanged<S extends Sort>(sort: S, taken: Taken<RowKeyOf[S]>, most: number): void {
    const waiting = this.#withRows[sort];
    // A namespace with more rows goes to the end, where the loop comes to it again.
    for (const namespace of waiting) {
      if (!taken.hasRoom(most)) return;
      waiting.delete(namespace);
      const lots = this.#lotsOf(namespace);
      lots.takeRows(sort, taken, Math.min(most, taken.keys.length + ROWS_PER_TURN));
      if (lots.hasRows(sort)) waiting.add(namespace);
      else this.#settle(namespace, lots);
    }
  }

  #written<S extends Sort>(sort: S, keys: readonly RowKeyOf[S][]): void {
    for (const key of keys) {
      const namespace = namespaceOf(key);
      const lots = this.#lots.get(namespace);
      if (!lots) continue;
      lots.written(sort, key);
      this.#settle(namespace, lots);
    }
  }

  #hasChange(key: SourceKey): boolean {
    return this.#lots.get(namespaceOf(key))?.all.some(({ changes }) => changes.has(key)) ?? false;
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
