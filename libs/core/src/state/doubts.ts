import { recordedHashes } from '../record/record.ts';
import { namespaceOf, type SourceKey, type WorkloadKey } from '../model.ts';
import { isNewer } from '../rv.ts';
import { work } from '../work.ts';
import type { Pending } from './pending-workloads.ts';
import { sourceKeyIn, type SourceRow, type WorkloadRow } from './rows.ts';
import { inSlices, ROWS_PER_SLICE, turn } from './slices.ts';

/** Sources in one portion: as many rows as one call reads from the catalog. */
const SOURCES_AT_ONCE = 500;

interface Workloads {
  readonly workloads: ReadonlyMap<WorkloadKey, WorkloadRow>;
  readonly pending: ReadonlyMap<WorkloadKey, Readonly<Pending>>;
}

/**
 * Sources because of which workloads are pending that have recorded the present data: the data is dated later than the pod template,
 * and nothing shows that the entry was right when the template was written. After a gap, a list often cannot show it. A leader
 * that saw the writes knows better, and its rows are in the catalog.
 */
export class Doubts {
  readonly #sources: Map<SourceKey, SourceRow>;
  readonly #workloads: Workloads;
  readonly #evaluate: (workload: WorkloadKey) => void;

  constructor(
    sources: Map<SourceKey, SourceRow>,
    workloads: Workloads,
    evaluate: (workload: WorkloadKey) => void,
  ) {
    this.#sources = sources;
    this.#workloads = workloads;
    this.#evaluate = evaluate;
  }

  /** Yields the sources in portions of at most 500, and an empty or small portion when a turn is over. A source may come again. */
  *found(): Generator<readonly SourceKey[], void, void> {
    let found = new Set<SourceKey>();
    let isOver = turn();
    for (const source of this.#looks()) {
      if (source) found.add(source);
      if (found.size < SOURCES_AT_ONCE && !isOver()) continue;
      yield [...found];
      found = new Set();
      isOver = turn();
    }
    yield [...found];
  }

  /**
   * Dates each source as its row in the catalog does if both rows are of one write and the same data, and the catalog's date is
   * earlier. Returns whether any was. `judge` then evaluates the workloads.
   */
  settle(catalog: ReadonlyMap<SourceKey, SourceRow>): boolean {
    let isAny = false;
    for (const [key, known] of catalog) {
      const held = this.#sources.get(key);
      if (!held || !isSameWrite(held, known) || !isNewer(held.dataRv, known.dataRv)) continue;
      this.#sources.set(key, { ...held, dataRv: known.dataRv });
      isAny = true;
    }
    return isAny;
  }

  /** Evaluates what is pending, in turns. */
  judge(): Generator<void, void, void> {
    return inSlices(this.#keys(), { size: ROWS_PER_SLICE, each: this.#evaluate });
  }

  /** Yields each source in doubt, and undefined after each workload, so that workloads without any take turns, too. */
  *#looks(): Generator<SourceKey | undefined, void, void> {
    for (const workload of this.#keys()) {
      yield* this.#sourcesOf(workload);
      yield undefined;
    }
  }

  /** As of now, so that workloads that become pending again and again are met once. */
  #keys(): readonly WorkloadKey[] {
    return [...this.#workloads.pending.keys()];
  }

  *#sourcesOf(workload: WorkloadKey): Generator<SourceKey, void, void> {
    const row = this.#workloads.workloads.get(workload);
    if (!row || row.unverified.length === 0) return;
    const record = recordedHashes(row.record);
    const unverified = new Set(row.unverified);
    for (const name of row.dependencies) {
      work.dependencyNames += 1;
      if (!unverified.has(name)) continue;
      work.sourceLookups += 1;
      const source = sourceKeyIn(namespaceOf(workload), name);
      const held = this.#sources.get(source);
      if (held?.exists && held.hash === record[name] && isNewer(held.dataRv, row.templateRv)) yield source;
    }
  }
}

function isSameWrite(held: SourceRow, known: SourceRow): boolean {
  return held.rv === known.rv && held.hash === known.hash && held.exists && known.exists;
}
