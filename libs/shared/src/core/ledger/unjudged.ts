import type { SourceKey, WorkloadKey } from '../model.ts';
import { work } from '../work.ts';
import type { EdgeBeginning } from './observe-workload.ts';
import { namespaceOf, sourceKeyIn, type SourceName } from './rows.ts';

/** Whether the source makes an edge of the workload is still to be said, and when it began if it does. */
export interface Pair {
  readonly workload: WorkloadKey;
  readonly source: SourceKey;
  readonly begin: EdgeBeginning;
}

/** What an event may spend on patterns at once, in steps of matching; see `work`. */
const TURN_STEPS = 250_000;
/** What the rules take besides, for one pair. */
const DECISION_STEPS = 100;

/** Begins a turn. What it gives says whether as much was spent since as one turn may take. */
export function turn(): () => boolean {
  const until = spent() + TURN_STEPS;
  return () => spent() >= until;
}

function spent(): number {
  return work.matchSteps + DECISION_STEPS * work.decisions;
}

interface Waiting {
  readonly pairs: Iterator<Pair>;
  /** When an edge began that is only found now. Of a workload: whoever finds it. */
  readonly begin: EdgeBeginning;
}

/**
 * Pairs that were too many, or whose patterns were too costly, to be judged with the event that asked for them. They
 * wait their turn, one namespace after the other, so that what one asks for keeps no other waiting.
 */
export class Unjudged {
  /** By namespace, then by whoever asks: a workload or a source. The next one is first. */
  readonly #waiting = new Map<string, Map<WorkloadKey | SourceKey, Waiting>>();

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  /** A workload, and each of the sources of its namespace that have these names. */
  putNames(workload: WorkloadKey, names: Iterable<SourceName>, begin: EdgeBeginning): void {
    this.#put(workload, { pairs: pairsAmong(names, workload, begin), begin });
  }

  /** A source that began to exist, or has other annotations, and each of these workloads. */
  putWorkloads(source: SourceKey, workloads: readonly WorkloadKey[], begin: EdgeBeginning): void {
    this.#put(source, { pairs: pairsOf(source, workloads, begin), begin });
  }

  /** What the same asked for before is dropped. */
  #put(asks: WorkloadKey | SourceKey, waiting: Waiting): void {
    const namespace = namespaceOf(asks);
    const all = this.#waiting.get(namespace) ?? new Map<string, Waiting>();
    this.#waiting.set(namespace, all.set(asks, waiting));
  }

  beginOf(asks: WorkloadKey | SourceKey): EdgeBeginning | undefined {
    return this.#waiting.get(namespaceOf(asks))?.get(asks)?.begin;
  }

  /** Drops what it asked for. Gives when an edge of it began. */
  take(asks: WorkloadKey): EdgeBeginning | undefined {
    const begin = this.beginOf(asks);
    this.drop(asks);
    return begin;
  }

  drop(asks: WorkloadKey | SourceKey): void {
    const namespace = namespaceOf(asks);
    const all = this.#waiting.get(namespace);
    all?.delete(asks);
    if (all?.size === 0) this.#waiting.delete(namespace);
  }

  /** It is of another namespace each time. */
  next(): Pair | undefined {
    for (const [namespace, all] of this.#waiting) {
      this.#waiting.delete(namespace);
      const pair = nextOf(all);
      if (all.size > 0) this.#waiting.set(namespace, all);
      if (pair) return pair;
    }
    return undefined;
  }
}

function nextOf(all: Map<WorkloadKey | SourceKey, Waiting>): Pair | undefined {
  for (const [asks, waiting] of all) {
    all.delete(asks);
    const next = waiting.pairs.next();
    if (next.done) continue;
    all.set(asks, waiting);
    return next.value;
  }
  return undefined;
}

function* pairsOf(
  source: SourceKey,
  workloads: readonly WorkloadKey[],
  begin: EdgeBeginning,
): Generator<Pair, void, void> {
  for (const workload of workloads) yield { workload, source, begin };
}

function* pairsAmong(
  names: Iterable<SourceName>,
  workload: WorkloadKey,
  begin: EdgeBeginning,
): Generator<Pair, void, void> {
  const namespace = namespaceOf(workload);
  for (const name of names) yield { workload, source: sourceKeyIn(namespace, name), begin };
}
