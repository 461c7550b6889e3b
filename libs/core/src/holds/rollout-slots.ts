import { namespaceOf, type WorkloadKey } from '../model.ts';
import { recordedReloads } from '../record/record.ts';
import type { RolloutState } from '../rollouts/rollout.ts';
import { ROLLOUT_TIMEOUT } from './waves.ts';

const MOST_SLOTS = 100_000;
/** How far the clock of the API server may be ahead, in milliseconds. */
const CLOCK_ERROR = 60_000;

/** Reads the value of `reroll.dev/max-concurrent-rollouts`; undefined if it is not a whole number from 1 to 100,000. */
export function readMostRollouts(text: string): number | undefined {
  const number = /^\d{1,6}$/u.test(text.trim()) ? Number(text) : 0;
  return number >= 1 && number <= MOST_SLOTS ? number : undefined;
}

/** A workload that waits until it may be reloaded. */
export interface SlotRequest {
  /** The most rollouts in its namespace at once; undefined: no limit. */
  readonly most?: number | undefined;
}

/** The waiting workloads by namespace, in the order in which they came. No namespace is empty. */
export type SlotRequests = ReadonlyMap<string, ReadonlyMap<WorkloadKey, SlotRequest>>;

export interface Slots {
  readonly used: ReadonlySet<WorkloadKey>;
  readonly total: number;
  /** Whether there may be more than one namespace. */
  readonly isShared: boolean;
}

/**
 * Chooses up to `count` workloads that may be reloaded now. Each slot goes to the namespace that has the fewest among those whose limit
 * allows one more, and within it to the workload that came first. A workload that has a slot needs no other, unless other namespaces wait:
 * then it gets its turn when it has none, so that nobody keeps a slot by ever new changes. One namespace counts for at most all slots but
 * one: others find one, whatever its tenants write and however long its rollouts take.
 */
export function grantSlots(
  waiting: SlotRequests,
  { used, total, isShared, count }: Slots & { count: number },
): WorkloadKey[] {
  const isAlone = waiting.size === 1;
  const granted = [...used].filter(
    (workload) => isAlone && waiting.get(namespaceOf(workload))?.has(workload),
  );
  const slots = new Map<string, number>();
  for (const workload of used) slots.set(namespaceOf(workload), (slots.get(namespaceOf(workload)) ?? 0) + 1);
  const lines = [...waiting].map(([namespace, requests]) => lineOf(requests, used, slots.get(namespace)));
  const each = isShared && total > 1 ? total - 1 : total;
  let free = total;
  for (const had of slots.values()) free -= Math.min(had, each);
  for (; free > 0 && granted.length < count; free -= 1) {
    const line = leastServed(lines, each);
    if (!line?.first) break;
    granted.push(line.first[0]);
    line.slots += 1;
    line.first = line.rest.next().value;
  }
  return granted;
}

interface Line {
  /** How many its namespace has. */
  slots: number;
  first: readonly [WorkloadKey, SlotRequest] | undefined;
  readonly rest: Iterator<readonly [WorkloadKey, SlotRequest], undefined>;
}

function lineOf(
  requests: ReadonlyMap<WorkloadKey, SlotRequest>,
  used: ReadonlySet<WorkloadKey>,
  slots = 0,
): Line {
  const rest = withoutUsed(requests, used);
  return { slots, first: rest.next().value, rest };
}

function* withoutUsed(
  requests: ReadonlyMap<WorkloadKey, SlotRequest>,
  used: ReadonlySet<WorkloadKey>,
): Generator<readonly [WorkloadKey, SlotRequest], undefined> {
  for (const request of requests) if (!used.has(request[0])) yield request;
  return undefined;
}

/** `each`: the most slots of a namespace. */
function leastServed(lines: readonly Line[], each: number): Line | undefined {
  let least: Line | undefined;
  for (const line of lines) {
    const isOpen = line.first && line.slots < Math.min(line.first[1].most ?? each, each);
    if (isOpen && (!least || line.slots < least.slots)) least = line;
  }
  return least;
}

/** Unix seconds of the last reload that the record lists; 0: none. */
export function lastReloadOf(record: string | undefined): number {
  return recordedReloads(record).times.at(-1) ?? 0;
}

/**
 * Whether a rollout in this state uses a slot: it follows a reload of the last ten minutes. `reloadedAt`: see `lastReloadOf`; what
 * somebody has set to a later time counts for nothing.
 */
export function usesSlot(state: RolloutState, reloadedAt: number, now: number): boolean {
  const age = now - reloadedAt * 1_000;
  return state === 'progressing' && age < ROLLOUT_TIMEOUT && age > -CLOCK_ERROR;
}
