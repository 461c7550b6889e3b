import { keyOf } from '@reroll/core/model';
import type { ChangeSummary } from '@reroll/shared/api/changes';
import type { AdminEvent } from '../api/event-stream.ts';

export const ROLLOUT_STATES: Readonly<Record<string, string>> = { complete: 'rolledOut', stuck: 'stuck' };

/** Of a workload whose reload has not ended. Only the list tells these apart, because it looks at the jobs. */
const OPEN: readonly string[] = ['pending', 'delayed', 'running', 'retrying'];
/** Of a workload whose rollout may still be told. */
const ROLLING: readonly string[] = ['reloaded', 'stuck'];

interface Told {
  /** As the list or the event of the change told them. */
  readonly states: ChangeSummary['states'];
  /** By workload, as later events told it. */
  readonly since: Map<string, string>;
}

/** What is told of each change, so that a list that is read again tells only what is new. */
export class ToldChanges {
  readonly #told = new Map<string, Told>();

  /** Notes what a list or an event tells of a change. True if that is new. */
  add({ id, states }: ChangeSummary): boolean {
    const before = this.#told.get(id);
    if (before && countsOf(before.states, before.since) === countsOf(states)) return false;
    this.#told.set(id, { states, since: new Map() });
    return true;
  }

  /** Notes what an event tells of a workload. An outcome names only the first of its changes, and a rollout none. */
  follow(event: AdminEvent): void {
    if (event.event === 'outcome') {
      const { change, workload, state } = event.data;
      this.#told.get(change ?? '')?.since.set(keyOf(workload), state);
    } else if (event.event === 'rollout') {
      const key = keyOf(event.data.workload);
      const state = ROLLOUT_STATES[event.data.rollout.state];
      for (const { since } of this.#told.values())
        if (state !== undefined && ROLLING.includes(since.get(key) ?? '')) since.set(key, state);
    }
  }
}

/** How many workloads have each state, as a text to compare. Those in `since` were open or held before. */
function countsOf(states: ChangeSummary['states'], since: Told['since'] = new Map()): string {
  const counts = new Map<string, number>();
  const add = (state: string, count: number): void => {
    const counted = OPEN.includes(state) ? 'open' : state;
    counts.set(counted, (counts.get(counted) ?? 0) + count);
  };
  for (const [state, count] of Object.entries(states)) add(state, count ?? 0);
  for (const _ of since.values()) add(counts.get('open') ? 'open' : 'held', -1);
  for (const state of since.values()) add(state, 1);
  const found = [...counts].filter(([, count]) => count !== 0);
  return found
    .map(([state, count]) => `${state} ${count}`)
    .toSorted()
    .join();
}
