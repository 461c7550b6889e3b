import type { WorkloadKey } from '../model.ts';
import { work } from '../work.ts';
import type { EdgeBeginning } from './observe-workload.ts';
import type { SourceName, WorkloadRow } from './rows.ts';

export interface EdgeMove {
  readonly workload: WorkloadKey;
  readonly begun: readonly SourceName[];
  readonly ended: readonly SourceName[];
  readonly begin: EdgeBeginning;
}

interface Noted extends EdgeMove {
  /** As they are after the move. */
  readonly edges: Set<SourceName>;
  readonly begun: SourceName[];
  readonly ended: SourceName[];
}

/** Edges that begin and end in one turn of the event loop: a row is made anew once, however many of its edges move. */
export class EdgeMoves {
  readonly #moves = new Map<WorkloadKey, Noted>();

  /** Of a workload whose row does not change until all moves were read. */
  note(
    workload: WorkloadKey,
    row: WorkloadRow,
    found: { readonly name: SourceName; readonly isEdge: boolean; readonly begin: EdgeBeginning },
  ): void {
    const { name, isEdge, begin } = found;
    const move = this.#moves.get(workload) ?? this.#begin(workload, row, begin);
    if (isEdge === move.edges.has(name)) return;
    if (isEdge) move.edges.add(name);
    else move.edges.delete(name);
    (isEdge ? move.begun : move.ended).push(name);
  }

  /** Workloads of which no edge moved are not among them. */
  *moved(): Generator<EdgeMove, void, void> {
    for (const move of this.#moves.values()) if (move.begun.length + move.ended.length > 0) yield move;
  }

  #begin(workload: WorkloadKey, row: WorkloadRow, begin: EdgeBeginning): Noted {
    work.edgeNames += row.edges.length;
    const move = { workload, begin, edges: new Set(row.edges), begun: [], ended: [] };
    this.#moves.set(workload, move);
    return move;
  }
}
