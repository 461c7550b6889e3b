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

/**
 * What the cluster state wants done, in the order in which it must be done: catalog rows before jobs. A publisher
 * drains it; what could not be written is put back. Identity only, so it never grows past the cluster.
 */
export class Outbox {
  /** Rows to write, or to remove if the cluster state no longer has them. */
  readonly sources = new Set<SourceKey>();
  readonly workloads = new Set<WorkloadKey>();
  #everySource: Every<SourceKey> | undefined;
  #everyWorkload: Every<WorkloadKey> | undefined;
  /** Sources whose data changed: one change job each. */
  readonly changes = new Set<SourceKey>();
  /** How changes that are to be told of were found, of those and of sources whose job is still to come; until the row is taken. */
  readonly foundBy = new Map<SourceKey, FoundBy>();
  readonly reloads = new Map<WorkloadKey, PendingCause>();
  /** Workloads whose pause ends at the time that their row says. */
  readonly resumes = new Set<WorkloadKey>();

  /** Has every row written, behind those that changed. The keys are read as they are taken: to begin costs nothing. */
  assert(sources: Iterable<SourceKey>, workloads: Iterable<WorkloadKey>): void {
    this.#everySource = { rest: sources[Symbol.iterator](), written: new Set() };
    this.#everyWorkload = { rest: workloads[Symbol.iterator](), written: new Set() };
  }

  get hasRows(): boolean {
    const changed = this.sources.size + this.workloads.size;
    return changed > 0 || this.#everySource !== undefined || this.#everyWorkload !== undefined;
  }

  /** Sources whose rows are to be written, at most so many: first those that changed and have waited for longest. */
  takeSources(most: number): SourceKey[] {
    const taken = takeFrom(this.sources, most);
    if (this.#everySource && fill(taken, this.#everySource, most)) this.#everySource = undefined;
    return taken;
  }

  /** Workloads, in the same way. */
  takeWorkloads(most: number): WorkloadKey[] {
    const taken = takeFrom(this.workloads, most);
    if (this.#everyWorkload && fill(taken, this.#everyWorkload, most)) this.#everyWorkload = undefined;
    return taken;
  }

  enqueue(key: WorkloadKey, cause: PendingCause): void {
    if (cause === 'owed' || !this.reloads.has(key)) this.reloads.set(key, cause);
  }

  /** At most so many, those that have waited for longest. */
  takeReloads(most: number): (readonly [WorkloadKey, PendingCause])[] {
    const taken = [...this.reloads].slice(0, most);
    for (const [key] of taken) this.reloads.delete(key);
    return taken;
  }

  change(key: SourceKey, by: FoundBy): void {
    this.changes.add(key);
    this.found(key, by);
  }

  found(key: SourceKey, by: FoundBy): void {
    if (by === 'event' || !this.foundBy.has(key)) this.foundBy.set(key, by);
  }

  /** How the change of the row that is to be written was found; undefined: no change job comes. To be asked once. */
  takeFoundBy(key: SourceKey): FoundBy | undefined {
    const by = this.foundBy.get(key) ?? (this.changes.has(key) ? 'list' : undefined);
    this.foundBy.delete(key);
    return by;
  }

  /** Of a source or a workload that is out of scope now. */
  dropJobsOf(key: SourceKey | WorkloadKey): void {
    this.changes.delete(key);
    this.foundBy.delete(key);
    this.reloads.delete(key);
    this.resumes.delete(key);
  }

  isEmpty(): boolean {
    return !this.hasRows && this.changes.size + this.reloads.size + this.resumes.size === 0;
  }

  clear(): void {
    this.sources.clear();
    this.workloads.clear();
    this.#everySource = undefined;
    this.#everyWorkload = undefined;
    this.changes.clear();
    this.foundBy.clear();
    this.reloads.clear();
    this.resumes.clear();
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
