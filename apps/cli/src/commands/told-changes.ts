import { compareIds } from '@reroll/core/history/stream-id';
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
  isPrinted: boolean;
}

/** Changes and their workloads in memory: a watch may run for weeks. */
const MOST_HELD = 100_000;

/** What is told of each change, so that a list that is read again tells only what is new. Of the oldest, nothing is new any more. */
export class ToldChanges {
  readonly #told = new Map<string, Told>();
  /** The latest of those that are not held any more. */
  #dropped = '0-0';
  #held = 0;

  /** Changes and their workloads in memory. */
  get held(): number {
    return this.#held;
  }

  /** Notes what a list or an event tells of a change. True if that is new. */
  add({ id, states }: ChangeSummary): boolean {
    if (this.#isDropped(id)) return false;
    const before = this.#told.get(id);
    if (before && countsOf(before.states, before.since) === countsOf(states)) return false;
    this.#held += before ? -before.since.size : 1;
    this.#told.set(id, { states, since: new Map(), isPrinted: before?.isPrinted ?? false });
    this.#trim();
    return true;
  }

  isPrinted(id: string): boolean {
    return this.#isDropped(id) || this.#told.get(id)?.isPrinted === true;
  }

  notePrinted(id: string): void {
    const told = this.#told.get(id);
    if (told) told.isPrinted = true;
  }

  /** Notes what an event tells of a workload. A rollout names no change. */
  follow(event: AdminEvent): void {
    if (event.event === 'outcome') {
      const { change, state, otherChanges = [], workload } = event.data;
      for (const each of [{ change: change ?? '', state }, ...otherChanges])
        this.#note(this.#told.get(each.change), keyOf(workload), each.state);
      this.#trim();
    } else if (event.event === 'rollout') {
      const key = keyOf(event.data.workload);
      const state = ROLLOUT_STATES[event.data.rollout.state];
      for (const { since } of this.#told.values())
        if (state !== undefined && ROLLING.includes(since.get(key) ?? '')) since.set(key, state);
    }
  }

  #note(told: Told | undefined, key: string, state: string): void {
    if (!told) return;
    if (!told.since.has(key)) this.#held += 1;
    told.since.set(key, state);
  }

  #isDropped(id: string): boolean {
    return compareIds(id, this.#dropped) <= 0;
  }

  #trim(): void {
    for (const [id, { since }] of this.#told) {
      if (this.#held <= MOST_HELD) return;
      this.#told.delete(id);
      this.#held -= 1 + since.size;
      if (!this.#isDropped(id)) this.#dropped = id;
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
