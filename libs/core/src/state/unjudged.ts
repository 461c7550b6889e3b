import type { SourceKey, WorkloadKey } from '../model.ts';
import type { DependencyBeginning } from './observe-workload.ts';
import { namespaceOf, sourceKeyIn, type SourceName } from './rows.ts';

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
export class Unjudged {
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
