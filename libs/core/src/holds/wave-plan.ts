/** How a change with waves proceeds, for people to see. */
import type { WorkloadKey } from '../model.ts';
import {
  completedAt,
  problemOf,
  readBake,
  readWaves,
  stateOf,
  waveSizes,
  type WavedChange,
  type WaveMember,
} from './waves.ts';

/**
 * `waiting`: for an earlier wave. `underWay`: some of it is not reloaded or rolled out yet. `baking`: it is observed for the bake
 * time. `halted`: a workload of it has failed, and others wait until that is resolved. `failed`: the same, and nobody waits. `done`: the next wave
 * may begin, or has.
 */
export const WAVE_STATES = ['waiting', 'underWay', 'baking', 'halted', 'failed', 'done'] as const;
export type WaveState = (typeof WAVE_STATES)[number];

export interface PlannedWave {
  readonly state: WaveState;
  /** `baking`: Unix milliseconds at which the next wave may begin. */
  readonly until?: number;
  readonly members: readonly PlannedMember[];
}

export interface PlannedMember {
  readonly workload: WorkloadKey;
  readonly isReloaded: boolean;
  /** `is rolling out` */
  readonly detail: string;
}

export interface WavePlan {
  readonly waves: readonly PlannedWave[];
  /** The workload for which the others wait; its detail says what is wrong. */
  readonly halted?: PlannedMember;
}

/** Undefined: waves or bake time cannot be read, so that the change waits. */
export function wavePlan({
  waves: text,
  bake: bakeText = '0',
  ...change
}: WavedChange): WavePlan | undefined {
  const reading = readWaves(text);
  const bake = readBake(bakeText);
  if (reading.state !== 'read' || bake === undefined) return undefined;
  const { members, isResumed, now } = change;
  const sizes = waveSizes(reading.ends, members.length);
  const lastWaiting = members.findLastIndex(({ isReloaded }) => !isReloaded);
  let failed: WaveMember | undefined;
  let mayBegin = true;
  const waves = sizes.map((end, index): PlannedWave => {
    const slice = members.slice(sizes[index - 1] ?? 0, end);
    const planned = slice.map((each) => memberOf(each, now));
    const start = end - slice.length;
    // Whoever waits is halted by a failure up to its own wave.
    const isWaitedFor = !isResumed && lastWaiting >= start;
    const state = stateOfWave(slice, { isWaitedFor, mayBegin, now });
    if (state === 'halted') failed ??= slice.find((each) => hasFailed(each, now));
    mayBegin &&= state === 'done' || state === 'failed';
    const until = observedUntil(members.slice(0, end), bake, now);
    if (!mayBegin || until <= now || members.slice(end).every(({ isReloaded }) => isReloaded))
      return { state, members: planned };
    mayBegin = false;
    return { state: 'baking', until, members: planned };
  });
  return failed ? { waves, halted: memberOf(failed, now) } : { waves };
}

function stateOfWave(
  slice: readonly WaveMember[],
  { isWaitedFor, mayBegin, now }: { isWaitedFor: boolean; mayBegin: boolean; now: number },
): Exclude<WaveState, 'baking'> {
  const isFailed = slice.some((each) => hasFailed(each, now));
  if (isWaitedFor && isFailed) return 'halted';
  if (slice.every((each) => isThrough(each, now))) return isFailed ? 'failed' : 'done';
  return mayBegin ? 'underWay' : 'waiting';
}

function observedUntil(members: readonly WaveMember[], bake: number, now: number): number {
  const healthy = members.filter((each) => !hasFailed(each, now));
  return Math.max(0, ...healthy.map(completedAt)) + bake;
}

function hasFailed(member: WaveMember, now: number): boolean {
  return problemOf(member, now) !== undefined;
}

/** Whether no later wave waits for it. One that has failed holds up nothing any more if the change was resumed. */
function isThrough(member: WaveMember, now: number): boolean {
  return member.isReloaded && (member.rollout.state === 'complete' || hasFailed(member, now));
}

function memberOf(member: WaveMember, now: number): PlannedMember {
  const { workload, isReloaded } = member;
  return { workload, isReloaded, detail: problemOf(member, now) ?? stateOf(member) };
}
