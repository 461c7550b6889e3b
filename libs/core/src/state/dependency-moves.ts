import type { WorkloadKey } from '../model.ts';
import { work } from '../work.ts';
import type { DependencyBeginning } from './observe-workload.ts';
import type { SourceName, WorkloadRow } from './rows.ts';

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
