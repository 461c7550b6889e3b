import {
  DEFAULT_ANNOTATION_LIMITS,
  UNCOUNTED,
  type AnnotationLimits,
  type Excess,
} from '../../annotations/annotation-limits.ts';
import { namespaceOf, type WorkloadKey } from '../../model.ts';
import { NamespaceTurns } from '../namespace-turns.ts';
import { NO_BASELINES, NO_NAMES, type ObservedWorkload, type WorkloadRow } from '../rows.ts';
import { decidesTheSame } from './dependencies.ts';

/**
 * Keeps the dependencies of workloads within the limits: those of one workload, and those of a namespace. A pattern takes a few
 * bytes to write, and each source that it matches takes some hundred here and in the catalog.
 */
export class DependencyLimits {
  readonly #limits: AnnotationLimits;
  /** Maps a namespace to its dependencies that count. */
  readonly #counts = new Map<string, number>();
  readonly #exceeding = new NamespaceTurns<WorkloadKey, true>();

  constructor(limits: AnnotationLimits = DEFAULT_ANNOTATION_LIMITS) {
    this.#limits = limits;
  }

  /** Counts a row in place of the one before. Returns the row, without dependencies if they exceed a limit. */
  admit(key: WorkloadKey, old: WorkloadRow | undefined, row: WorkloadRow): WorkloadRow {
    const namespace = namespaceOf(key);
    const others = (this.#counts.get(namespace) ?? 0) - countedOf(old);
    const excess = row.excess ?? this.#excessOf(row, others);
    const admitted = excess && excess !== row.excess ? withoutDependencies(row, excess) : row;
    this.#setCount(namespace, others + countedOf(admitted));
    if (excess?.inNamespace) this.#exceeding.put(key, true);
    else if (old?.excess?.inNamespace) this.#exceeding.drop(key);
    return admitted;
  }

  forget(key: WorkloadKey, old: WorkloadRow): void {
    const namespace = namespaceOf(key);
    this.#setCount(namespace, (this.#counts.get(namespace) ?? 0) - countedOf(old));
    this.#exceeding.drop(key);
  }

  /** Takes out some of the workloads that exceed a limit by what is in their namespace. */
  take(most: number): readonly WorkloadKey[] {
    const keys: WorkloadKey[] = [];
    while (keys.length < most) {
      const next = this.#exceeding.take();
      if (!next) break;
      keys.push(next[0]);
    }
    return keys;
  }

  #excessOf({ dependencies }: WorkloadRow, others: number): Excess | undefined {
    const { namespaceDependencies: most } = this.#limits;
    const given = dependencies.length;
    const isFull = given > UNCOUNTED && others + beyondUncounted(given) > most;
    return (
      sourcesExcess(given, this.#limits) ?? (isFull ? excessOf('namespaceDependencies', most) : undefined)
    );
  }

  #setCount(namespace: string, count: number): void {
    if (count === 0) this.#counts.delete(namespace);
    else this.#counts.set(namespace, count);
  }
}

/**
 * Returns the workload with the excess that its row has by what is in its namespace, if nothing of the workload that decides has
 * changed since.
 */
export function withExcessOf<Seen extends ObservedWorkload>(row: WorkloadRow | undefined, seen: Seen): Seen {
  const excess = row?.excess;
  if (!row || !excess?.inNamespace || seen.excess) return seen;
  const same = { ...seen, excess };
  return decidesTheSame(row, same) ? same : seen;
}

/** Returns the excess of a workload with so many dependencies, if it has too many, whatever other workloads have. */
export function sourcesExcess(
  dependencies: number,
  { sources }: AnnotationLimits = DEFAULT_ANNOTATION_LIMITS,
): Excess | undefined {
  return dependencies > sources ? excessOf('sources', sources) : undefined;
}

/** Nothing is counted beyond the limit, so that the owner is told the same each time. */
function excessOf(limit: keyof AnnotationLimits, most: number): Excess {
  return { limit, inNamespace: true, most, given: most + 1 };
}

function withoutDependencies(row: WorkloadRow, excess: Excess): WorkloadRow {
  return { ...row, excess, dependencies: NO_NAMES, baselines: NO_BASELINES, stale: NO_NAMES };
}

function countedOf(row: WorkloadRow | undefined): number {
  return row ? beyondUncounted(row.dependencies.length) : 0;
}

function beyondUncounted(dependencies: number): number {
  return Math.max(0, dependencies - UNCOUNTED);
}
