import type { SourceKey, WorkloadKey } from '../model.ts';
import { takeFrom } from '../take-from.ts';

/**
 * Why a workload is pending. `owed`: it needs a reload (the API and the metrics have this name). `correct`: only its record is behind
 * (adoption, or its owner's own rollout brought the data), which can wait for a token of the adoption rate.
 */
export type PendingCause = 'owed' | 'correct';

/** How a change of a source that is to be told of was found: by a live event, or by a list or a resync. */
export type FoundBy = 'event' | 'list';

/** The writing of every row of one sort. */
interface Every<K> {
  readonly rest: Iterator<K>;
  /** Those that changed and were taken meanwhile. */
  readonly written: Set<K>;
}

/** Rows to write, by key; of sources with how a change was found that is to have a change job. */
export interface RowKeys {
  readonly sources: readonly (readonly [SourceKey, FoundBy | undefined])[];
  readonly workloads: readonly WorkloadKey[];
}

export interface Jobs {
  /** Sources whose data changed: one change job each. */
  readonly changes: readonly SourceKey[];
  readonly reloads: readonly (readonly [WorkloadKey, PendingCause])[];
  /** Workloads whose pause ends at the time that their row says. */
  readonly resumes: readonly WorkloadKey[];
}

/** What a publisher sees of an outbox: it takes rows before jobs, and puts back what could not be written. */
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

/** What the cluster state wants done. Identity only, so it never grows past the cluster. */
export class Outbox {
  readonly #sources = new Set<SourceKey>();
  readonly #workloads = new Set<WorkloadKey>();
  #everySource: Every<SourceKey> | undefined;
  #everyWorkload: Every<WorkloadKey> | undefined;
  readonly #changes = new Set<SourceKey>();
  /** How changes that are to be told of were found, of those and of sources whose job is still to come; until the row is taken. */
  readonly #foundBy = new Map<SourceKey, FoundBy>();
  readonly #reloads = new Map<WorkloadKey, PendingCause>();
  readonly #resumes = new Set<WorkloadKey>();
  /** Rows that changed. */
  readonly sources: ReadonlySet<SourceKey> = this.#sources;
  readonly workloads: ReadonlySet<WorkloadKey> = this.#workloads;
  readonly changes: ReadonlySet<SourceKey> = this.#changes;
  readonly reloads: ReadonlyMap<WorkloadKey, PendingCause> = this.#reloads;
  readonly resumes: ReadonlySet<WorkloadKey> = this.#resumes;

  /** Has a row written, or removed if the cluster state no longer has it. */
  writeSource(key: SourceKey): void {
    this.#sources.add(key);
  }

  writeWorkload(key: WorkloadKey): void {
    this.#workloads.add(key);
  }

  /** Has every row written, behind those that changed. The keys are read as they are taken: to begin costs nothing. */
  writeAll(sources: Iterable<SourceKey>, workloads: Iterable<WorkloadKey>): void {
    this.#everySource = { rest: sources[Symbol.iterator](), written: new Set() };
    this.#everyWorkload = { rest: workloads[Symbol.iterator](), written: new Set() };
  }

  /** How the change of a source was found that is to have a change job. */
  found(key: SourceKey, by: FoundBy): void {
    if (by === 'event' || !this.#foundBy.has(key)) this.#foundBy.set(key, by);
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

  /** Of a source or a workload that is out of scope now. */
  dropChangeOf(key: SourceKey): void {
    this.#changes.delete(key);
    this.#foundBy.delete(key);
  }

  dropReloadOf(key: WorkloadKey): void {
    this.#reloads.delete(key);
    this.#resumes.delete(key);
  }

  get hasRows(): boolean {
    const changed = this.#sources.size + this.#workloads.size;
    return changed > 0 || this.#everySource !== undefined || this.#everyWorkload !== undefined;
  }

  isEmpty(): boolean {
    return !this.hasRows && this.#changes.size + this.#reloads.size + this.#resumes.size === 0;
  }

  /** At most so many of each: first those that changed and have waited for longest. */
  takeRows(most: number): RowKeys {
    const sources = takeFrom(this.#sources, most);
    if (this.#everySource && fill(sources, this.#everySource, most)) this.#everySource = undefined;
    const workloads = takeFrom(this.#workloads, most);
    if (this.#everyWorkload && fill(workloads, this.#everyWorkload, most)) this.#everyWorkload = undefined;
    return { sources: sources.map((key) => [key, this.#takeFoundBy(key)] as const), workloads };
  }

  putBackRows({ sources, workloads }: RowKeys): void {
    for (const [key, foundBy] of sources) {
      this.#sources.add(key);
      if (foundBy) this.found(key, foundBy);
    }
    for (const key of workloads) this.#workloads.add(key);
  }

  /** At most so many of each, those that have waited for longest. */
  takeJobs(most: number): Jobs {
    const reloads = [...this.#reloads].slice(0, most);
    for (const [key] of reloads) this.#reloads.delete(key);
    return { changes: takeFrom(this.#changes, most), reloads, resumes: takeFrom(this.#resumes, most) };
  }

  putBackJobs({ changes, reloads, resumes }: Jobs): void {
    for (const key of changes) this.enqueueChange(key);
    for (const [key, cause] of reloads) this.enqueueReload(key, cause);
    for (const key of resumes) this.enqueueResume(key);
  }

  clear(): void {
    this.#sources.clear();
    this.#workloads.clear();
    this.#everySource = undefined;
    this.#everyWorkload = undefined;
    this.#changes.clear();
    this.#foundBy.clear();
    this.#reloads.clear();
    this.#resumes.clear();
  }

  #takeFoundBy(key: SourceKey): FoundBy | undefined {
    const by = this.#foundBy.get(key) ?? (this.#changes.has(key) ? 'list' : undefined);
    this.#foundBy.delete(key);
    return by;
  }
}

/** Fills up with rows that were not written yet. True if there are no more. */
function fill<K>(taken: K[], { rest, written }: Every<K>, most: number): boolean {
  for (const key of taken) written.add(key);
  while (taken.length < most) {
    const next = rest.next();
    if (next.done === true) return true;
    if (!written.has(next.value)) taken.push(next.value);
  }
  return false;
}
