import {
  DEFAULT_ANNOTATION_LIMITS,
  UNCOUNTED,
  type AnnotationLimits,
  type Excess,
} from '../../annotations/annotation-limits.ts';
import type { AnnotationKeys } from '../../annotations/annotation-keys.ts';
import { namespaceOf, type WorkloadKey } from '../../model.ts';
import { NamespaceTurns } from '../namespace-turns.ts';
import { NO_BASELINES, NO_NAMES, type ObservedWorkload, type WorkloadRow } from '../rows.ts';
import { decidesTheSame } from './dependencies.ts';
import { indexedNames, isIndexedAlike } from './dependents.ts';

/**
 * Keeps the sources that workloads refer to within the limits: those that one depends on, and all of a namespace. A pattern or a
 * forged record takes few bytes to write, and each source takes some hundred here and in the catalog.
 */
export class DependencyLimits {
  readonly #keys: AnnotationKeys;
  readonly #limits: AnnotationLimits;
  /** The sources that count of each workload that has more than `UNCOUNTED`. */
  readonly #counts = new Map<WorkloadKey, number>();
  /** Their sum for each namespace. */
  readonly #sums = new Map<string, number>();
  readonly #exceeding = new NamespaceTurns<WorkloadKey, true>();

  constructor(keys: AnnotationKeys) {
    this.#keys = keys;
    this.#limits = keys.limits ?? DEFAULT_ANNOTATION_LIMITS;
  }

  /** Counts a row in place of the one before. Returns the row, without dependencies if a limit is exceeded. */
  admit(key: WorkloadKey, old: WorkloadRow | undefined, row: WorkloadRow): WorkloadRow {
    if (old && isIndexedAlike(old, row)) return row;
    const count = countOf(row, this.#keys);
    const excess = row.excess ?? this.#excessOf(row, this.#othersThan(key) + count);
    if (!excess?.inNamespace) {
      this.#setCount(key, count);
      this.#exceeding.drop(key);
      return row;
    }
    this.#setCount(key, 0);
    this.#exceeding.put(key, true);
    return excess === row.excess ? row : withoutDependencies(row, excess);
  }

  forget(key: WorkloadKey): void {
    this.#setCount(key, 0);
    this.#exceeding.drop(key);
  }

  /** Returns some of the workloads that exceed a limit by what is in their namespace, other ones at the next call. */
  exceeding(most: number): WorkloadKey[] {
    const keys: WorkloadKey[] = [];
    while (keys.length < most) {
      const next = this.#exceeding.take();
      if (!next) break;
      keys.push(next[0]);
    }
    for (const key of keys) this.#exceeding.put(key, true);
    return keys;
  }

  get mostDependencies(): number {
    return this.#limits.sources;
  }

  /** Returns the excess that a row would have in place of the one that is counted. */
  excessOf(key: WorkloadKey, row: WorkloadRow): Excess | undefined {
    return this.#excessOf(row, this.#othersThan(key) + countOf(row, this.#keys));
  }

  /** Returns what the other workloads of its namespace count. */
  #othersThan(key: WorkloadKey): number {
    return (this.#sums.get(namespaceOf(key)) ?? 0) - (this.#counts.get(key) ?? 0);
  }

  #excessOf({ dependencies }: WorkloadRow, sum: number): Excess | undefined {
    const { namespaceSources: most } = this.#limits;
    const isFull = sum > most;
    return (
      sourcesExcess(dependencies.length, this.#limits) ??
      (isFull ? excessOf('namespaceSources', most) : undefined)
    );
  }

  #setCount(key: WorkloadKey, count: number): void {
    const before = this.#counts.get(key) ?? 0;
    if (count === before) return;
    const namespace = namespaceOf(key);
    this.#sums.set(namespace, (this.#sums.get(namespace) ?? 0) - before + count);
    if (count === 0) this.#counts.delete(key);
    else this.#counts.set(key, count);
    if (this.#sums.get(namespace) === 0) this.#sums.delete(namespace);
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

function countOf(row: WorkloadRow, keys: AnnotationKeys): number {
  return mayCount(row) ? Math.max(0, indexedNames(row, keys).names.size - UNCOUNTED) : 0;
}

/** False if the row cannot have more than `UNCOUNTED` sources, without reading its lists and its record. */
function mayCount({
  uses,
  mentions,
  dependencies,
  annotations,
  podAnnotations,
  record = '',
}: WorkloadRow): boolean {
  const listed = [...Object.values(annotations), ...Object.values(podAnnotations)];
  const fromLists = listed.reduce((sum, { length }) => sum + Math.ceil(length / 2), 0);
  const fromRest = uses.length + mentions.length + dependencies.length + fromLists;
  return fromRest + mostRecorded(record) > UNCOUNTED;
}

/** Returns how many sources a record can name, at most, whoever wrote it: each entry has a colon. Counts no further than it matters. */
function mostRecorded(record: string): number {
  let colons = 0;
  let at = record.indexOf(':');
  while (at !== -1 && colons <= UNCOUNTED) {
    colons += 1;
    at = record.indexOf(':', at + 1);
  }
  return colons;
}
