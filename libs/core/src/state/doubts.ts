import { recordedHashes } from '../record/record.ts';
import { namespaceOf, type SourceKey, type WorkloadKey } from '../model.ts';
import { isNewer } from '../rv.ts';
import type { Pending } from './pending-workloads.ts';
import { sourceKeyIn, type SourceRow, type WorkloadRow } from './rows.ts';
import { slicesOf } from './slices.ts';

/** Sources whose dates are in doubt, with the workloads that are pending because of them. */
export type Doubtful = ReadonlyMap<SourceKey, readonly WorkloadKey[]>;

/** Workloads that are looked at together. */
const WORKLOADS_AT_ONCE = 25;

interface Workloads {
  readonly workloads: ReadonlyMap<WorkloadKey, WorkloadRow>;
  readonly pending: ReadonlyMap<WorkloadKey, Readonly<Pending>>;
}

/**
 * Workloads that are pending although they have recorded the present data, because a list showed a source and its workload after both
 * were written. A leader that saw these writes knows better, and its rows are in the catalog.
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

  /** Yields the doubts about some workloads at a time; none about most. */
  *found(): Generator<Doubtful, void, void> {
    for (const keys of slicesOf(this.#workloads.pending.keys(), WORKLOADS_AT_ONCE)) {
      const found = new Map<SourceKey, WorkloadKey[]>();
      for (const key of keys) {
        for (const source of this.#sourcesOf(key)) {
          const users = found.get(source) ?? [];
          found.set(source, users);
          users.push(key);
        }
      }
      yield found;
    }
  }

  /** Dates a source as its row in the catalog does if both rows are of one write and the same data, and the catalog's date is earlier. */
  settle(doubtful: Doubtful, catalog: ReadonlyMap<SourceKey, SourceRow>): void {
    for (const [key, workloads] of doubtful) {
      const held = this.#sources.get(key);
      const known = catalog.get(key);
      if (!held || !known || !isSameWrite(held, known) || !isNewer(held.dataRv, known.dataRv)) continue;
      this.#sources.set(key, { ...held, dataRv: known.dataRv });
      for (const workload of workloads) this.#evaluate(workload);
    }
  }

  #sourcesOf(key: WorkloadKey): SourceKey[] {
    const row = this.#workloads.workloads.get(key);
    if (!row || row.unverified.length === 0) return [];
    const record = recordedHashes(row.record);
    return row.unverified.flatMap((name) => {
      const source = sourceKeyIn(namespaceOf(key), name);
      const held = this.#sources.get(source);
      return held?.exists && held.hash === record[name] && isNewer(held.dataRv, row.templateRv)
        ? [source]
        : [];
    });
  }
}

function isSameWrite(held: SourceRow, known: SourceRow): boolean {
  return held.rv === known.rv && held.hash === known.hash && held.exists && known.exists;
}
