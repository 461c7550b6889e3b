import type { Catalog } from '@reroll/redis/catalog/catalog';
import type { Rollouts } from '@reroll/redis/history/rollouts';
import type { RolloutEntry } from '@reroll/core/history/entries';
import type { HistoryJoin, Pair } from '@reroll/core/history/join';
import { isOpen, liveState, stateOf, type LiveJob, type ReloadState } from '@reroll/core/history/states';
import type { WorkloadKey } from '@reroll/core/model';
import type { ReloadJobs } from './reload-jobs.ts';

/** What was found in Redis for some pairs. */
export interface Live {
  stateOf(pair: Pair): ReloadState;
  jobOf(workload: WorkloadKey): LiveJob | undefined;
  /** One that is under way. */
  rolloutOf(workload: WorkloadKey): RolloutEntry | undefined;
}

/** Workloads that are looked up for one answer; the states of others are those of the history. */
const MOST_WORKLOADS = 5_000;

/** States as they are now: what the history does not know yet is told by jobs, rows and rollouts. */
export class LiveStates {
  readonly #catalog: Catalog;
  readonly #rollouts: Rollouts;
  readonly #jobs: ReloadJobs;

  constructor(by: { catalog: Catalog; rollouts: Rollouts; jobs: ReloadJobs }) {
    this.#catalog = by.catalog;
    this.#rollouts = by.rollouts;
    this.#jobs = by.jobs;
  }

  /** Two round trips. What turns out to be settled is noted in the history. */
  async look(join: HistoryJoin, pairs: Iterable<Pair>): Promise<Live> {
    const open = new Set<WorkloadKey>();
    const rolling = new Set<WorkloadKey>();
    for (const pair of pairs) {
      if (isOpen(pair)) open.add(pair.workload);
      else if (isRolling(pair)) rolling.add(pair.workload);
    }
    const [jobs, rollouts] = await Promise.all([
      this.#jobs.of([...open].slice(0, MOST_WORKLOADS)),
      this.#complete(join, [...rolling].slice(0, MOST_WORKLOADS)),
    ]);
    const now = Date.now();
    return {
      stateOf: (pair) => {
        const state = liveState(pair, { job: jobs.get(pair.workload) ?? null, now });
        if (state === 'forgotten') join.noteForgotten(pair);
        return state;
      },
      jobOf: (workload) => jobs.get(workload),
      rolloutOf: (workload) => rollouts.get(workload),
    };
  }

  /** A rollout that nobody saw end: the row is written after what is under way, so that none is taken for complete. */
  async #complete(
    join: HistoryJoin,
    workloads: readonly WorkloadKey[],
  ): Promise<Map<WorkloadKey, RolloutEntry>> {
    const rows = await this.#catalog.workloads(workloads);
    const rollouts = await this.#rollouts.of(workloads);
    for (const [workload, { generation }] of rows)
      if (!rollouts.has(workload)) join.noteComplete(workload, generation);
    return rollouts;
  }
}

function isRolling(pair: Pair): boolean {
  const state = stateOf(pair);
  return state === 'reloaded' || state === 'stuck';
}
