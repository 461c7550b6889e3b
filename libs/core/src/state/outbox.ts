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

/** Jobs that were waiting at a moment, and the rows that were: none of these jobs goes before the last of these rows is taken. */
interface Mark {
  /** How many changed rows have been taken then, since the start. */
  readonly sources: number;
  readonly workloads: number;
  /** Whether every row was to be written. */
  readonly every: boolean;
  /** How many of the oldest jobs of each sort these are. */
  changes: number;
  reloads: number;
  resumes: number;
}

const NO_JOBS: Jobs = { changes: [], reloads: [], resumes: [] };

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
 */
export class Outbox {
  readonly #sources = new Set<SourceKey>();
  readonly #workloads = new Set<WorkloadKey>();
  #everySource: Every<SourceKey> | undefined;
  #everyWorkload: Every<WorkloadKey> | undefined;
  readonly #changes = new Set<SourceKey>();
  /** How the changes were found that have a change job or will have one, until the row is taken. */
  readonly #foundBy = new Map<SourceKey, FoundBy>();
  readonly #readings = new Map<SourceKey, SourceHashes>();
  readonly #reloads = new Map<WorkloadKey, PendingCause>();
  readonly #resumes = new Set<WorkloadKey>();
  /** Changed rows taken since the start. */
  readonly #taken = { sources: 0, workloads: 0 };
  #mark: Mark | undefined;
  /** Rows that changed. */
  readonly sources: ReadonlySet<SourceKey> = this.#sources;
  readonly workloads: ReadonlySet<WorkloadKey> = this.#workloads;
  readonly changes: ReadonlySet<SourceKey> = this.#changes;
  readonly reloads: ReadonlyMap<WorkloadKey, PendingCause> = this.#reloads;
  readonly resumes: ReadonlySet<WorkloadKey> = this.#resumes;

  /** Queues a row for writing, or for removal if the cluster state no longer has it. */
  writeSource(key: SourceKey): void {
    this.#sources.add(key);
  }

  writeWorkload(key: WorkloadKey): void {
    this.#workloads.add(key);
  }

  /** Queues every row for writing, after the rows that changed. Reads the keys only when they are taken, so the call is cheap. */
  writeAll(sources: Iterable<SourceKey>, workloads: Iterable<WorkloadKey>): void {
    this.#mark = undefined;
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

  enqueueChange(key: SourceKey): void {
    this.#changes.add(key);
  }

  enqueueReload(key: WorkloadKey, cause: PendingCause): void {
    if (cause === 'owed' || !this.#reloads.has(key)) this.#reloads.set(key, cause);
  }

  enqueueResume(key: WorkloadKey): void {
    this.#resumes.add(key);
  }

  /** Drops the job of a source that left the scope. */
  dropChangeOf(key: SourceKey): void {
    if (this.#changes.delete(key) && this.#mark) this.#mark.changes -= 1;
    this.#foundBy.delete(key);
    this.#readings.delete(key);
  }

  dropReloadOf(key: WorkloadKey): void {
    if (this.#reloads.delete(key) && this.#mark) this.#mark.reloads -= 1;
    if (this.#resumes.delete(key) && this.#mark) this.#mark.resumes -= 1;
  }

  get hasRows(): boolean {
    return this.#sources.size + this.#workloads.size > 0 || this.#writesEvery;
  }

  isEmpty(): boolean {
    return !this.hasRows && !this.#hasJobs;
  }

  get #writesEvery(): boolean {
    return this.#everySource !== undefined || this.#everyWorkload !== undefined;
  }

  get #hasJobs(): boolean {
    return this.#changes.size + this.#reloads.size + this.#resumes.size > 0;
  }

  /** Takes at most `most` rows of each sort: first the rows that changed, oldest first. */
  takeRows(most: number): RowKeys {
    const sources = takeFrom(this.#sources, most);
    this.#taken.sources += sources.length;
    if (this.#everySource && fill(sources, this.#everySource, most)) this.#everySource = undefined;
    const workloads = takeFrom(this.#workloads, most);
    this.#taken.workloads += workloads.length;
    if (this.#everyWorkload && fill(workloads, this.#everyWorkload, most)) this.#everyWorkload = undefined;
    return {
      sources: sources.map((key) => [key, this.#takeFoundBy(key)] as const),
      workloads,
      readings: this.#takeReadings(sources),
    };
  }

  /** Readings are not put back: without one, a worker reads the source. */
  putBackRows({ sources, workloads }: Omit<RowKeys, 'readings'>): void {
    this.#mark = undefined;
    for (const [key, foundBy] of sources) {
      this.#sources.add(key);
      if (foundBy) this.found(key, foundBy);
    }
    for (const key of workloads) this.#workloads.add(key);
  }

  /**
   * Takes at most `most` jobs of each sort, oldest first, of those for which all rows are taken that waited with them. Rows that
   * came later hold up no job, so rows that change all the time do not either.
   */
  takeJobs(most: number): Jobs {
    if (!this.#hasJobs) return NO_JOBS;
    if (!this.hasRows) this.#mark = undefined;
    this.#mark ??= this.#markHere();
    const mark = this.#mark;
    if (!this.#isPast(mark)) return NO_JOBS;
    const changes = takeFrom(this.#changes, Math.min(most, mark.changes));
    const reloads = this.#takeReloads(Math.min(most, mark.reloads));
    const resumes = takeFrom(this.#resumes, Math.min(most, mark.resumes));
    mark.changes -= changes.length;
    mark.reloads -= reloads.length;
    mark.resumes -= resumes.length;
    if (mark.changes + mark.reloads + mark.resumes === 0) this.#mark = undefined;
    return { changes, reloads, resumes };
  }

  putBackJobs({ changes, reloads, resumes }: Jobs): void {
    for (const key of changes) this.enqueueChange(key);
    for (const [key, cause] of reloads) this.enqueueReload(key, cause);
    for (const key of resumes) this.enqueueResume(key);
  }

  clear(): void {
    this.#mark = undefined;
    this.#sources.clear();
    this.#workloads.clear();
    this.#everySource = undefined;
    this.#everyWorkload = undefined;
    this.#changes.clear();
    this.#foundBy.clear();
    this.#readings.clear();
    this.#reloads.clear();
    this.#resumes.clear();
  }

  #markHere(): Mark {
    return {
      sources: this.#taken.sources + this.#sources.size,
      workloads: this.#taken.workloads + this.#workloads.size,
      every: this.#writesEvery,
      changes: this.#changes.size,
      reloads: this.#reloads.size,
      resumes: this.#resumes.size,
    };
  }

  #isPast({ sources, workloads, every }: Mark): boolean {
    if (every && this.#writesEvery) return false;
    return this.#taken.sources >= sources && this.#taken.workloads >= workloads;
  }

  #takeReloads(most: number): [WorkloadKey, PendingCause][] {
    const reloads: [WorkloadKey, PendingCause][] = [];
    for (const reload of this.#reloads) {
      if (reloads.length === most) break;
      reloads.push(reload);
    }
    for (const [key] of reloads) this.#reloads.delete(key);
    return reloads;
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
    const by = this.#foundBy.get(key) ?? (this.#changes.has(key) ? 'list' : undefined);
    this.#foundBy.delete(key);
    return by;
  }
}

/** Fills up with rows that were not written yet. Returns true if none are left. */
function fill<K>(taken: K[], { rest, written }: Every<K>, most: number): boolean {
  for (const key of taken) written.add(key);
  while (taken.length < most) {
    const next = rest.next();
    if (next.done === true) return true;
    if (!written.has(next.value)) taken.push(next.value);
  }
  return false;
}
