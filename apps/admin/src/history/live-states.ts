import type { Catalog } from '@reroll/redis/catalog/catalog';
import type { Rollouts } from '@reroll/redis/history/rollouts';
import type { RolloutEntry } from '@reroll/core/history/entries';
import type { HistoryJoin, Outcome, Pair } from '@reroll/core/history/join';
import { isOpen, liveState, stateOf, type LiveJob, type ReloadState } from '@reroll/core/history/states';
import type { WorkloadKey } from '@reroll/core/model';
import type { ReloadJobs } from './reload-jobs.ts';

export interface Live {
  stateOf(pair: Pair): ReloadState;
  jobOf(workload: WorkloadKey): LiveJob | undefined;
  /** The workload's rollout, if one is under way. */
  rolloutOf(workload: WorkloadKey): RolloutEntry | undefined;
  /** The workload's latest outcome, of any change. */
  latestOf(workload: WorkloadKey): Outcome | undefined;
}

/** Workloads looked up for one answer; others have the states of the history. */
const MOST_WORKLOADS = 5_000;

/** The present states. Jobs, rows and rollouts show what is not in the history yet. */
export class LiveStates {
  readonly #catalog: Catalog;
  readonly #rollouts: Rollouts;
  readonly #jobs: ReloadJobs;

  constructor(by: { catalog: Catalog; rollouts: Rollouts; jobs: ReloadJobs }) {
    this.#catalog = by.catalog;
    this.#rollouts = by.rollouts;
    this.#jobs = by.jobs;
  }

  /** Takes two round trips. States that turn out to be final are added to the history. */
  async look(join: HistoryJoin, pairs: Iterable<Pair>): Promise<Live> {
    const open = new Set<WorkloadKey>();
    const rolling = new Set<WorkloadKey>();
    for (const pair of pairs) {
      if (isOpen(pair)) open.add(pair.workload);
      else if (isRolling(pair)) rolling.add(pair.workload);
    }
    const looked = new Set([...open].slice(0, MOST_WORKLOADS));
    const [jobs, rollouts] = await Promise.all([
      this.#jobs.of([...looked]),
      this.#complete(join, [...rolling].slice(0, MOST_WORKLOADS)),
    ]);
    const now = Date.now();
    return {
      stateOf: (pair) => {
        // Of others it is not known whether they have a job.
        if (!looked.has(pair.workload)) return stateOf(pair);
        const state = liveState(pair, { job: jobs.get(pair.workload) ?? null, now });
        if (state === 'forgotten') join.noteForgotten(pair);
        return state;
      },
      jobOf: (workload) => jobs.get(workload),
      rolloutOf: (workload) => rollouts.get(workload),
      latestOf: (workload) => join.workload(workload)?.outcomes.at(-1),
    };
  }

  /**
   * Completes rollouts whose end was not seen. Rows are written after rollouts under way, so none of those counts as
   * complete.
   */
  async #complete(
    join: HistoryJoin,
    workloads: readonly WorkloadKey[],
  ): Promise<Map<WorkloadKey, RolloutEntry>> {
    const generations = new Map<WorkloadKey, number>();
    for await (const rows of this.#catalog.eachWorkloadOf(workloads))
      for (const [workload, { generation }] of rows) generations.set(workload, generation);
    const rollouts = await this.#rollouts.of(workloads);
    for (const [workload, generation] of generations)
      if (!rollouts.has(workload)) join.noteComplete(workload, generation);
    return rollouts;
  }
}

function isRolling(pair: Pair): boolean {
  const state = stateOf(pair);
  return state === 'reloaded' || state === 'stuck';
}
