import { kindOf, namespaceOf, type SourceKey, type WorkloadKey } from '../../model.ts';
import type { DecisionSettings } from '../../rules/decision.ts';
import type { Dependents } from './dependents.ts';
import {
  candidatesOf,
  compact,
  dependencyJudge,
  dependenciesAmong,
  hasNoDependencies,
  isDependency,
} from './dependencies.ts';
import type { MultiMap } from '../multi-map.ts';
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
import { turn } from '../slices.ts';
import { work } from '../../work.ts';

/** What is known, and where the rows go whose dependencies moved. */
export interface JudgedBy {
  readonly decision: DecisionSettings;
  readonly sources: ReadonlyMap<SourceKey, SourceRow>;
  readonly workloads: ReadonlyMap<WorkloadKey, WorkloadRow>;
  /** Keys of sources by `<kind>/<namespace>`. */
  readonly byNamespace: MultiMap<SourceKey>;
  readonly dependents: Dependents;
  readonly replace: (key: WorkloadKey, row: WorkloadRow) => void;
}

/** Says which sources are dependencies of a workload: at once where that is cheap, else a turn of the event loop at a time. */
export class DependencyJudging {
  readonly #by: JudgedBy;
  readonly #unjudged = new Unjudged();

  constructor(by: JudgedBy) {
    this.#by = by;
  }

  get isDone(): boolean {
    return this.#unjudged.isEmpty;
  }

  /** Drops what waits of a workload. Gives when a dependency of it began. */
  take(workload: WorkloadKey): DependencyBeginning | undefined {
    return this.#unjudged.take(workload);
  }

  /** The dependencies of a workload that was just seen, as many as one turn finds. The others wait for later turns. */
  dependencies(seen: ObservedWorkload, sighting: Omit<Sighting, 'dependencies'>): readonly SourceName[] {
    const { decision, sources, byNamespace } = this.#by;
    if (hasNoDependencies(seen, decision)) return NO_NAMES;
    const judge = dependencyJudge(seen, {
      settings: decision,
      annotationsOf: (source) => sources.get(sourceKeyIn(seen.namespace, source))?.annotations,
    });
    const candidates = candidatesOf(seen, decision.keys, {
      before: sighting.known?.dependencies,
      known: (kind) => byNamespace.each(`${kind}/${seen.namespace}`),
    });
    const isOver = turn();
    const dependencies = dependenciesAmong(candidates, judge, isOver);
    // What the rest of them finds dates from the first sighting that was too much for its turn.
    const earlier = sighting.known?.uid === seen.uid ? sighting.earlier : undefined;
    if (isOver()) this.#unjudged.put(seen.key, candidates, earlier ?? beginningOf(seen, sighting));
    // Most workloads have a dependency for each source that they use: with 100,000 of them a copy would show.
    return sameLists(dependencies, seen.uses) ? seen.uses : compact(dependencies);
  }

  /**
   * Judges some of the pairs that were too many for the event that asked for them, until it is over. Until then such a
   * workload has not yet the dependencies of its patterns; each dates from that event. Gives the workloads of which dependencies moved.
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

  /** Whether the source has begun or ended a dependency of the workload. `isNew`: it began to exist with this. */
  judge(pair: Pair & { readonly isNew: boolean }): boolean {
    const { workload } = pair;
    const row = this.#by.workloads.get(workload);
    if (!row) return false;
    const name = sourceNameOf(pair.source);
    const isOne = this.#isDependency(pair, row);
    if (isOne === row.dependencies.includes(name)) return false;
    // A source that began to exist since the workload waits has no earlier data.
    const begin = pair.isNew ? pair.begin : (this.#unjudged.beginOf(workload) ?? pair.begin);
    this.move({ workload, begun: isOne ? [name] : NO_NAMES, ended: isOne ? NO_NAMES : [name], begin });
    return true;
  }

  move(move: DependencyMove): void {
    const row = this.#by.workloads.get(move.workload);
    if (!row) return;
    const next = withDependencies(row, move);
    this.#by.replace(move.workload, next);
    this.#by.dependents.put(move.workload, row, next);
  }

  #isDependency({ workload, source }: Pick<Pair, 'workload' | 'source'>, row: WorkloadRow): boolean {
    const { decision, sources } = this.#by;
    const asked = { ...row, kind: kindOf(workload) };
    const annotations = sources.get(source)?.annotations;
    const question = { workload: asked, source: sourceNameOf(source), annotations };
    return !hasNoDependencies(asked, decision) && isDependency(question, decision);
  }
}

/** Whether the source makes a dependency of the workload is still to be said, and when it began if it does. */
export interface Pair {
  readonly workload: WorkloadKey;
  readonly source: SourceKey;
  readonly begin: DependencyBeginning;
}

interface Waiting {
  readonly names: Iterator<SourceName>;
  /** When a dependency began that is only found now. */
  readonly begin: DependencyBeginning;
}

/**
 * Workloads of which the sources were too many, or the patterns too costly, to be judged with the event that told of
 * them. They wait their turn, one namespace after the other, so that what one asks for keeps no other waiting.
 */
class Unjudged {
  /** By namespace. The next one is first. */
  readonly #waiting = new Map<string, Map<WorkloadKey, Waiting>>();

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  /** A workload, and each of the sources of its namespace that have these names; in place of those from before. */
  put(workload: WorkloadKey, names: Iterator<SourceName>, begin: DependencyBeginning): void {
    const namespace = namespaceOf(workload);
    const all = this.#waiting.get(namespace) ?? new Map<WorkloadKey, Waiting>();
    this.#waiting.set(namespace, all.set(workload, { names, begin }));
  }

  beginOf(workload: WorkloadKey): DependencyBeginning | undefined {
    return this.#waiting.get(namespaceOf(workload))?.get(workload)?.begin;
  }

  /** Drops what waits of it. Gives when a dependency of it began. */
  take(workload: WorkloadKey): DependencyBeginning | undefined {
    const begin = this.beginOf(workload);
    this.drop(workload);
    return begin;
  }

  drop(workload: WorkloadKey): void {
    const namespace = namespaceOf(workload);
    const all = this.#waiting.get(namespace);
    all?.delete(workload);
    if (all?.size === 0) this.#waiting.delete(namespace);
  }

  /** It is of another namespace each time. */
  next(): Pair | undefined {
    for (const [namespace, all] of this.#waiting) {
      this.#waiting.delete(namespace);
      const pair = nextOf(namespace, all);
      if (all.size > 0) this.#waiting.set(namespace, all);
      if (pair) return pair;
    }
    return undefined;
  }
}

function nextOf(namespace: string, all: Map<WorkloadKey, Waiting>): Pair | undefined {
  for (const [workload, waiting] of all) {
    all.delete(workload);
    const next = waiting.names.next();
    if (next.done === true) continue;
    all.set(workload, waiting);
    return { workload, source: sourceKeyIn(namespace, next.value), begin: waiting.begin };
  }
  return undefined;
}

export interface DependencyMove {
  readonly workload: WorkloadKey;
  readonly begun: readonly SourceName[];
  readonly ended: readonly SourceName[];
  readonly begin: DependencyBeginning;
}

interface Noted extends DependencyMove {
  /** As they are after the move. */
  readonly dependencies: Set<SourceName>;
  readonly begun: SourceName[];
  readonly ended: SourceName[];
}

/** Dependencies that begin and end in one turn of the event loop: a row is made anew once, however many of its dependencies move. */
export class DependencyMoves {
  readonly #moves = new Map<WorkloadKey, Noted>();

  /** Of a workload whose row does not change until all moves were read. */
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

  /** Workloads of which no dependency moved are not among them. */
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
