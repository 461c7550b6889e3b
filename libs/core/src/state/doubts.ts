import { recordedHashes } from '../record/record.ts';
import { namespaceOf, type SourceKey, type WorkloadKey } from '../model.ts';
import { RV_UNKNOWN, isNewer, maxRv } from '../rv.ts';
import { work } from '../work.ts';
import type { Pending } from './pending-workloads.ts';
import { sourceKeyIn, type SourceRow, type WorkloadRow } from './rows.ts';
import { inSlices, ROWS_PER_SLICE, turn } from './slices.ts';
import { isSameOwner } from './workloads/template-owner.ts';

/** Keys in one portion: as many rows as one call reads from the catalog. */
const KEYS_AT_ONCE = 500;

interface Rows {
  readonly sources: Map<SourceKey, SourceRow>;
  readonly workloads: Map<WorkloadKey, WorkloadRow>;
  readonly pending: ReadonlyMap<WorkloadKey, Readonly<Pending>>;
}

/** What a row says of a pod template and the record, and what tells whether two rows are of one template. */
export type TemplateFacts = Pick<
  WorkloadRow,
  'uid' | 'generation' | 'templateOwner' | 'templateRv' | 'record' | 'unverified'
>;

/**
 * Sources because of which workloads are pending that have recorded the present data: the data is dated later than the pod template,
 * and nothing shows that the entry was right when the template was written. After a gap, a list often cannot show it. A leader
 * that saw the writes knows better, and its rows are in the catalog.
 */
export class Doubts {
  readonly #rows: Rows;
  readonly #evaluate: (workload: WorkloadKey, row?: WorkloadRow) => void;

  /** `evaluate` takes the row that the cluster state has if it is given none. */
  constructor(rows: Rows, evaluate: (workload: WorkloadKey, row?: WorkloadRow) => void) {
    this.#rows = rows;
    this.#evaluate = evaluate;
  }

  /** Yields the sources in portions of at most 500, and an empty portion when a turn is over. A source may come again. */
  sources(): Generator<readonly SourceKey[], void, void> {
    return inPortions(this.#sources());
  }

  /** Yields the workloads that are pending because of such sources, in the same way, each once. */
  workloads(): Generator<readonly WorkloadKey[], void, void> {
    return inPortions(this.#workloads());
  }

  /**
   * Dates each source as its row in the catalog does if both rows are of one write and the same data, and the catalog's date is
   * earlier. A creation that counts is dated exactly; if creations do not count for the leader, its date is earlier. Returns whether any
   * was dated. `judge` then evaluates the workloads.
   */
  settleSources(catalog: ReadonlyMap<SourceKey, SourceRow>): boolean {
    const { sources } = this.#rows;
    let isAny = false;
    for (const [key, known] of catalog) {
      const held = sources.get(key);
      if (!held || held.created || !isSameWrite(held, known) || !isNewer(held.dataRv, known.dataRv)) continue;
      sources.set(key, { ...held, dataRv: known.dataRv });
      isAny = true;
    }
    return isAny;
  }

  /** Evaluates what is pending, in turns. */
  judge(): Generator<void, void, void> {
    return inSlices(this.#keys(), { size: ROWS_PER_SLICE, each: (key) => this.#evaluate(key) });
  }

  /**
   * Dates each pod template as the row in the catalog does if both rows are of the same template, and the catalog's date is later: each
   * is a lower bound. Then evaluates the workload, in turns, by what the leader has verified. That counts only until something evaluates
   * the workload again, as when this watcher begins to lead: what is unverified stays so in the rows, because a leader may write its row
   * before it has judged the last write of a source.
   */
  settleTemplates(catalog: ReadonlyMap<WorkloadKey, TemplateFacts>): Generator<void, void, void> {
    return inSlices(catalog, {
      size: ROWS_PER_SLICE,
      each: ([key, known]) => this.#settleTemplate(key, known),
    });
  }

  #settleTemplate(key: WorkloadKey, known: TemplateFacts): void {
    const { workloads, pending } = this.#rows;
    const held = workloads.get(key);
    // An event may have settled it since.
    if (!held || !pending.has(key) || !isSameTemplate(held, known)) return;
    const isLater = isNewer(known.templateRv, held.templateRv);
    const row = isLater ? { ...held, templateRv: known.templateRv } : held;
    if (isLater) workloads.set(key, row);
    this.#evaluate(key, row.record === known.record ? { ...row, unverified: known.unverified } : row);
  }

  /** Yields each source in doubt, and undefined after each workload, so that workloads without any take turns, too. */
  *#sources(): Generator<SourceKey | undefined, void, void> {
    for (const workload of this.#keys()) {
      yield* this.#sourcesOf(workload);
      yield undefined;
    }
  }

  *#workloads(): Generator<WorkloadKey | undefined, void, void> {
    for (const workload of this.#keys())
      yield this.#sourcesOf(workload).next().done === true ? undefined : workload;
  }

  /** As of now, so that workloads that become pending again and again are met once. */
  #keys(): readonly WorkloadKey[] {
    return [...this.#rows.pending.keys()];
  }

  *#sourcesOf(workload: WorkloadKey): Generator<SourceKey, void, void> {
    const row = this.#rows.workloads.get(workload);
    if (!row || row.unverified.length === 0) return;
    const record = recordedHashes(row.record);
    const unverified = new Set(row.unverified);
    for (const name of row.dependencies) {
      work.dependencyNames += 1;
      if (!unverified.has(name)) continue;
      work.sourceLookups += 1;
      const source = sourceKeyIn(namespaceOf(workload), name);
      const held = this.#rows.sources.get(source);
      if (held?.exists && held.hash === record[name] && isNewer(held.dataRv, row.templateRv)) yield source;
    }
  }
}

function* inPortions<Key>(looks: Iterable<Key | undefined>): Generator<readonly Key[], void, void> {
  let found = new Set<Key>();
  let isOver = turn();
  for (const key of looks) {
    if (key !== undefined) found.add(key);
    if (found.size === KEYS_AT_ONCE) {
      yield [...found];
      found = new Set();
    } else if (isOver()) yield [];
    else continue;
    isOver = turn();
  }
  yield [...found];
}

function isSameWrite(held: SourceRow, known: SourceRow): boolean {
  return held.rv === known.rv && held.hash === known.hash && held.exists && known.exists;
}

/**
 * Whether both rows are of one template. The resourceVersion of the row does not tell: a leader writes no row for a status. A date that
 * this watcher has not seen yet is of another history of etcd.
 */
function isSameTemplate(held: WorkloadRow, known: TemplateFacts): boolean {
  const seen = maxRv(held.rv, held.templateOwner?.rv ?? RV_UNKNOWN);
  const isOne = held.uid === known.uid && held.generation === known.generation;
  return isOne && isSameOwner(held.templateOwner, known.templateOwner) && !isNewer(known.templateRv, seen);
}
