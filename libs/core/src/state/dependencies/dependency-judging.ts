import { isSameExcess } from '../../annotations/annotation-limits.ts';
import {
  kindOf,
  namespaceOf,
  type Annotations,
  type SourceKey,
  type SourceKind,
  type WorkloadKey,
} from '../../model.ts';
import type { DecisionSettings } from '../../rules/decision.ts';
import type { Dependents } from './dependents.ts';
import { DependencyLimits } from './dependency-limits.ts';
import {
  candidatesOf,
  compact,
  dependencyJudge,
  dependenciesAmong,
  hasNoDependencies,
  isDependency,
  type Deciding,
} from './dependencies.ts';
import type { MultiMap } from '../multi-map.ts';
import { NamespaceTurns } from '../namespace-turns.ts';
import {
  beginningOf,
  withDependencies,
  type DependencyBeginning,
  type Sighting,
} from '../workloads/observe-workload.ts';
import {
  NO_NAMES,
  sameLists,
  sourceKeyIn,
  sourceNameOf,
  type ObservedWorkload,
  type SourceName,
  type SourceRow,
  type WorkloadRow,
} from '../rows.ts';
import { RV_UNKNOWN, maxRv, type Rv } from '../../rv.ts';
import { turn } from '../slices.ts';
import { work } from '../../work.ts';

/** The known rows, and where to put the rows whose dependencies moved. */
export interface JudgedBy {
  readonly decision: DecisionSettings;
  readonly sources: ReadonlyMap<SourceKey, SourceRow>;
  readonly workloads: ReadonlyMap<WorkloadKey, WorkloadRow>;
  /** Maps `<kind>/<namespace>` to keys of sources. */
  readonly byNamespace: MultiMap<SourceKey>;
  readonly dependents: Dependents;
  readonly replace: (key: WorkloadKey, row: WorkloadRow) => void;
}

/** Workloads that exceed a limit of dependencies and are counted again at a resync. */
const COUNTED_AGAIN = 25;

/** A workload that exceeds a limit and whose dependencies are being counted again. */
interface Counting {
  readonly key: WorkloadKey;
  /** The count is void once the workload has another row. */
  readonly row: WorkloadRow;
  readonly candidates: Iterator<SourceName>;
  readonly found: Set<SourceName>;
  readonly isDependency: (source: SourceName) => boolean;
}

/** Decides which sources are dependencies of a workload: at once if that is cheap, otherwise in turns of the event loop. */
export class DependencyJudging {
  readonly #by: JudgedBy;
  readonly #unjudged = new Unjudged();
  readonly #limits: DependencyLimits;
  #toCount: WorkloadKey[] = [];
  #counting: Counting | undefined;

  constructor(by: JudgedBy) {
    this.#by = by;
    this.#limits = new DependencyLimits(by.decision.keys);
  }

  get isDone(): boolean {
    return this.#unjudged.isEmpty && this.#toCount.length === 0 && !this.#counting;
  }

  /** Drops the unjudged sources of a workload. Returns the beginning that its dependencies date from, if any were waiting. */
  take(workload: WorkloadKey): DependencyBeginning | undefined {
    return this.#unjudged.take(workload);
  }

  /** Returns the row that replaces `old`: without dependencies if they exceed a limit. */
  admit(key: WorkloadKey, old: WorkloadRow | undefined, row: WorkloadRow): WorkloadRow {
    const admitted = this.#limits.admit(key, old, row);
    if (admitted.excess) this.#unjudged.take(key);
    return admitted;
  }

  forget(key: WorkloadKey, row: WorkloadRow): void {
    this.#by.dependents.remove(key, row);
    this.#limits.forget(key);
    this.#unjudged.take(key);
  }

  /** Queues some of the workloads that exceed a limit of dependencies to be counted again: sources and other workloads may be gone. */
  countExceedingAgain(): void {
    this.#toCount = this.#limits.exceeding(COUNTED_AGAIN);
  }

  /**
   * Counts the dependencies of queued workloads again, until `isOver`. A workload keeps its excess meanwhile. If it has room now, all of
   * its sources are judged anew; if it exceeds another limit, its owner is told. What it had missed counts as known: its dependencies date from now.
   */
  countSome(isOver: () => boolean): void {
    while (!isOver()) {
      this.#counting ??= this.#nextToCount();
      if (!this.#counting) return;
      const { candidates, found, isDependency } = this.#counting;
      const next = candidates.next();
      if (next.done !== true && !found.has(next.value) && isDependency(next.value)) found.add(next.value);
      if (next.done !== true && found.size <= this.#limits.mostDependencies) continue;
      this.#counted(this.#counting);
      this.#counting = undefined;
    }
  }

  #counted({ key, row, found }: Counting): void {
    if (this.#by.workloads.get(key) !== row) return;
    const excess = this.#limits.excessOf(key, { ...withoutExcess(row), dependencies: [...found] });
    if (!excess) this.#judgeAnew(key, row);
    else if (!isSameExcess(excess, row.excess)) this.#by.replace(key, { ...row, excess });
  }

  #nextToCount(): Counting | undefined {
    for (let key = this.#toCount.pop(); key; key = this.#toCount.pop()) {
      const row = this.#by.workloads.get(key);
      if (!row?.excess?.inNamespace) continue;
      const asked = { ...withoutExcess(row), kind: kindOf(key) };
      const isDependency = dependencyJudge(asked, this.#judgedBy(namespaceOf(key)));
      return { key, row, candidates: this.#candidates(key, asked), found: new Set(), isDependency };
    }
    return undefined;
  }

  #judgeAnew(key: WorkloadKey, row: WorkloadRow): void {
    const next = this.admit(key, row, withoutExcess(row));
    if (next.excess) return;
    const begin = (name: SourceName): { rv: Rv } => ({
      rv: maxRv(row.rv, this.#by.sources.get(sourceKeyIn(namespaceOf(key), name))?.rv ?? RV_UNKNOWN),
    });
    this.#by.replace(key, next);
    this.#by.dependents.put(key, row, next);
    const names = this.#candidates(key, { ...next, kind: kindOf(key) });
    this.#unjudged.put(key, { names, uses: new Set(next.uses), begin });
  }

  #candidates(key: WorkloadKey, workload: Deciding, before?: readonly SourceName[]): Iterator<SourceName> {
    const { byNamespace, decision } = this.#by;
    const known = (kind: SourceKind): Iterable<SourceKey> => byNamespace.each(`${kind}/${namespaceOf(key)}`);
    return candidatesOf(workload, decision.keys, { before, known });
  }

  #judgedBy(namespace: string): Parameters<typeof dependencyJudge>[1] {
    const { decision, sources } = this.#by;
    const annotationsOf = (source: SourceName): Annotations | undefined =>
      sources.get(sourceKeyIn(namespace, source))?.annotations;
    return { settings: decision, annotationsOf };
  }

  /**
   * Returns the dependencies of a workload that was just seen, as many as one turn finds. The other candidates wait for later
   * turns.
   */
  dependencies(seen: ObservedWorkload, sighting: Omit<Sighting, 'dependencies'>): readonly SourceName[] {
    if (hasNoDependencies(seen, this.#by.decision)) return NO_NAMES;
    const judge = dependencyJudge(seen, this.#judgedBy(seen.namespace));
    const candidates = this.#candidates(seen.key, seen, sighting.known?.dependencies);
    const isOver = turn();
    const dependencies = dependenciesAmong(candidates, judge, isOver);
    // Dependencies found later date from the first sighting that exceeded its turn.
    const earlier = sighting.known?.uid === seen.uid ? sighting.earlier : undefined;
    if (isOver()) {
      const begin = earlier ?? beginningOf(seen, sighting);
      this.#unjudged.put(seen.key, { names: candidates, uses: new Set(seen.uses), begin });
    }
    // Most workloads depend on each source that they use. Sharing the list saves memory with 100,000 workloads.
    return sameLists(dependencies, seen.uses) ? seen.uses : compact(dependencies);
  }

  /**
   * Judges pairs that were too many for the event that asked for them, until `isOver`. A workload lacks the dependencies of its
   * patterns until then; each dates from that event. Yields the workloads whose dependencies moved.
   */
  *judgeSome(isOver: () => boolean): Generator<WorkloadKey, void, void> {
    const moves = new DependencyMoves();
    for (let pair = this.#unjudged.next(); pair; pair = isOver() ? undefined : this.#unjudged.next()) {
      const row = this.#by.workloads.get(pair.workload);
      if (!row) continue;
      const name = sourceNameOf(pair.source);
      moves.note(pair.workload, row, {
        name,
        isDependency: this.#isDependency(pair, row),
        begin: pair.begin,
      });
    }
    for (const move of moves.moved()) {
      this.move(move);
      yield move.workload;
    }
  }

  /**
   * Judges a source that changed. Returns whether it began or ended a dependency of the workload. `isNew`: the change created the
   * source.
   */
  judge(pair: Pair & { readonly isNew: boolean }): boolean {
    const { workload } = pair;
    const row = this.#by.workloads.get(workload);
    if (!row) return false;
    const name = sourceNameOf(pair.source);
    const isOne = this.#isDependency(pair, row);
    if (isOne === row.dependencies.includes(name)) return false;
    // A source that was created while the workload waits has no earlier data.
    const begin = pair.isNew ? pair.begin : (this.#unjudged.beginOf(workload) ?? pair.begin);
    this.move({ workload, begun: isOne ? [name] : NO_NAMES, ended: isOne ? NO_NAMES : [name], begin });
    return true;
  }

  move(move: DependencyMove): void {
    const row = this.#by.workloads.get(move.workload);
    if (!row) return;
    const next = this.admit(move.workload, row, withDependencies(row, move));
    this.#by.replace(move.workload, next);
    this.#by.dependents.put(move.workload, row, next);
  }

  #isDependency(
    { workload, source, isUsed }: Pick<Pair, 'workload' | 'source' | 'isUsed'>,
    row: WorkloadRow,
  ): boolean {
    const { decision, sources } = this.#by;
    const asked = { ...row, kind: kindOf(workload) };
    const annotations = sources.get(source)?.annotations;
    const question = { workload: asked, source: sourceNameOf(source), annotations, isUsed };
    return !hasNoDependencies(asked, decision) && isDependency(question, decision);
  }
}

/** A workload and a source that are still to be judged, and the date of the dependency if there is one. */
export interface Pair {
  readonly workload: WorkloadKey;
  readonly source: SourceKey;
  readonly begin: DependencyBeginning;
  /** See `DependencyQuestion`. */
  readonly isUsed?: boolean;
}

interface Waiting {
  readonly names: Iterator<SourceName>;
  /** The sources that the workload uses. If these change, it is queued anew. */
  readonly uses: ReadonlySet<SourceName>;
  /** Dates a dependency that is found later. */
  readonly begin: DependencyBeginning;
}

/** Workloads with too many sources, or too costly patterns, to be judged with the event that showed them. */
class Unjudged {
  readonly #turns = new NamespaceTurns<WorkloadKey, Waiting>();

  get isEmpty(): boolean {
    return this.#turns.isEmpty;
  }

  /** Queues a workload with the names of sources to judge. Replaces the names that it waits with. */
  put(workload: WorkloadKey, waiting: Waiting): void {
    this.#turns.put(workload, waiting);
  }

  beginOf(workload: WorkloadKey): DependencyBeginning | undefined {
    return this.#turns.get(workload)?.begin;
  }

  /** Drops a workload. Returns the beginning that its dependencies date from. */
  take(workload: WorkloadKey): DependencyBeginning | undefined {
    const begin = this.beginOf(workload);
    this.#turns.drop(workload);
    return begin;
  }

  next(): Pair | undefined {
    for (let turn = this.#turns.take(); turn; turn = this.#turns.take()) {
      const [workload, waiting] = turn;
      const next = waiting.names.next();
      if (next.done === true) continue;
      this.#turns.put(workload, waiting);
      const isUsed = waiting.uses.has(next.value);
      return {
        workload,
        source: sourceKeyIn(namespaceOf(workload), next.value),
        begin: waiting.begin,
        isUsed,
      };
    }
    return undefined;
  }
}

export interface DependencyMove {
  readonly workload: WorkloadKey;
  readonly begun: readonly SourceName[];
  readonly ended: readonly SourceName[];
  readonly begin: DependencyBeginning;
}

interface Noted extends DependencyMove {
  /** The dependencies after the move. */
  readonly dependencies: Set<SourceName>;
  readonly begun: SourceName[];
  readonly ended: SourceName[];
}

/** Collects the dependencies that begin and end in one turn of the event loop, so that each row is rebuilt only once. */
export class DependencyMoves {
  readonly #moves = new Map<WorkloadKey, Noted>();

  /** Notes a dependency that begins or ends. The row may not change before `moved` was read. */
  note(
    workload: WorkloadKey,
    row: WorkloadRow,
    found: { readonly name: SourceName; readonly isDependency: boolean; readonly begin: DependencyBeginning },
  ): void {
    const { name, isDependency, begin } = found;
    const move = this.#moves.get(workload) ?? this.#begin(workload, row, begin);
    if (isDependency === move.dependencies.has(name)) return;
    if (isDependency) move.dependencies.add(name);
    else move.dependencies.delete(name);
    (isDependency ? move.begun : move.ended).push(name);
  }

  /** Notes that the source is a dependency of none of these. */
  noteGone(key: SourceKey, users: readonly WorkloadKey[], rows: ReadonlyMap<WorkloadKey, WorkloadRow>): void {
    const gone = { name: sourceNameOf(key), isDependency: false, begin: () => ({ rv: RV_UNKNOWN }) };
    for (const workload of users) {
      const row = rows.get(workload);
      if (row) this.note(workload, row, gone);
    }
  }

  /** Yields only workloads with a dependency that moved. */
  *moved(): Generator<DependencyMove, void, void> {
    for (const move of this.#moves.values()) if (move.begun.length + move.ended.length > 0) yield move;
  }

  #begin(workload: WorkloadKey, row: WorkloadRow, begin: DependencyBeginning): Noted {
    work.dependencyNames += row.dependencies.length;
    const move = { workload, begin, dependencies: new Set(row.dependencies), begun: [], ended: [] };
    this.#moves.set(workload, move);
    return move;
  }
}

function withoutExcess({ excess: _excess, ...row }: WorkloadRow): WorkloadRow {
  return row;
}
