/** A workload as an event of the watch shows it. */
export interface Sighting {
  /** `<namespace>/<name>`. */
  readonly workload: string;
  readonly generation: number;
  /** What reloaders leave in a pod template: the values of their variables and annotations. */
  readonly markers: readonly string[];
  /** When the event was received, in milliseconds of the monotonic clock. */
  readonly at: number;
}

export interface Expected {
  readonly workload: string;
  /** Marker hash of the new data. */
  readonly hash: string;
  /** Just before the source was written. */
  readonly changedAt: number;
}

/** What came of an expected rollout. */
export interface Outcome extends Expected {
  /** When the new hash was first seen in the pod template; undefined: never. */
  readonly rolledAt: number | undefined;
}

export interface Tally {
  readonly outcomes: readonly Outcome[];
  readonly rolled: number;
  readonly missed: number;
  /** By workload, rollouts beyond the one that was expected; all of them if none was. */
  readonly surplus: ReadonlyMap<string, number>;
}

/**
 * Compares the rollouts that were seen with those that were to come. Nobody but the reloader writes specs while a log is
 * open: each step of a workload's generation is a rollout. A Deployment's moves with its annotations too, as an adoption
 * writes them: then the markers stay as they were.
 */
export class RolloutLog {
  readonly #generations: Map<string, number>;
  readonly #markers: Map<string, string>;
  #expected = new Map<string, Outcome>();
  #rollouts = new Map<string, number>();
  #rolled = 0;
  #lastRolloutAt = 0;

  /**
   * What is known of every workload, as last seen; kept up to date here. `generations`: unknown ones count from 1.
   * `markers`: unknown workloads have none.
   */
  constructor(generations: Map<string, number>, markers: Map<string, string>) {
    this.#generations = generations;
    this.#markers = markers;
  }

  /** Expected rollouts that have not been seen. */
  get pending(): number {
    return this.#expected.size - this.#rolled;
  }

  /** When the last rollout of any workload was seen; 0 for none. */
  get lastRolloutAt(): number {
    return this.#lastRolloutAt;
  }

  /** Forgets what was expected and seen, and returns it. */
  finish(): Tally {
    const outcomes = [...this.#expected.values()];
    const surplus = [...this.#rollouts]
      .map(([workload, count]) => [workload, count - (this.#expected.has(workload) ? 1 : 0)] as const)
      .filter(([, count]) => count > 0);
    const rolled = this.#rolled;
    this.#expected = new Map();
    this.#rollouts = new Map();
    this.#rolled = 0;
    return { outcomes, rolled, missed: outcomes.length - rolled, surplus: new Map(surplus) };
  }

  /** To be called before the source is written; again for a workload only if the first has not come. */
  expect(expected: Expected): void {
    this.#expected.set(expected.workload, { ...expected, rolledAt: undefined });
  }

  observe({ workload, generation, markers, at }: Sighting): void {
    const steps = generation - (this.#generations.get(workload) ?? 1);
    if (steps > 0) this.#generations.set(workload, generation);
    if (this.#areNew(workload, markers) && steps > 0) {
      this.#rollouts.set(workload, (this.#rollouts.get(workload) ?? 0) + steps);
      this.#lastRolloutAt = at;
    }
    const expected = this.#expected.get(workload);
    if (!expected || expected.rolledAt !== undefined) return;
    if (!markers.some((marker) => marker.includes(expected.hash))) return;
    this.#expected.set(workload, { ...expected, rolledAt: at });
    this.#rolled += 1;
  }

  /** Whether the markers are others than those last seen. */
  #areNew(workload: string, markers: readonly string[]): boolean {
    const now = markers.join(' ');
    const before = this.#markers.get(workload) ?? '';
    this.#markers.set(workload, now);
    return now !== before;
  }
}

/** From just before the source's write to the event that shows the workload rolled, in milliseconds. */
export function latencies(outcomes: readonly Outcome[]): number[] {
  return outcomes.flatMap(({ changedAt, rolledAt }) =>
    rolledAt === undefined ? [] : [rolledAt - changedAt],
  );
}

/** From the first write to the last patch; NaN if nothing was rolled. */
export function totalTime(outcomes: readonly Outcome[]): number {
  const rolledAt = outcomes.map((outcome) => outcome.rolledAt).filter((at) => at !== undefined);
  if (rolledAt.length === 0) return Number.NaN;
  return Math.max(...rolledAt) - Math.min(...outcomes.map(({ changedAt }) => changedAt));
}
