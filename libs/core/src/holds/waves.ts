import { annotationOf } from '../annotations/annotation-keys.ts';
import { parseDuration } from '../durations.ts';
import type { Annotations, WorkloadKey } from '../model.ts';
import { isNewer, isRv } from '../rv.ts';
import type { SourceRow } from '../state/rows.ts';
import {
  BAKE_ANNOTATION,
  CANNOT_BE_READ,
  given,
  RESUMED_ANNOTATION,
  untilText,
  WAVES_ANNOTATION,
  type ReloadHold,
} from './hold.ts';

const MOST_WAVES = 10;
/** The longest time for which a wave is observed, in milliseconds: so long is kept when a rollout was complete. */
export const LONGEST_BAKE = 3_600_000;
/** A rollout that is not complete after this time, in milliseconds, has failed. */
export const ROLLOUT_TIMEOUT = 600_000;
/** Milliseconds after which a waiting workload is looked at again, at least and at most; longer if there are many. */
const FIRST_LOOK = 10_000;
const LAST_LOOK = 300_000;
const LOOKS_PER_SECOND = 10;

/** Up to how many workloads a wave goes: a number, or a part of all. */
type WaveEnd = { readonly count: number } | { readonly part: number };

export type WavesReading =
  | { readonly state: 'none' }
  | { readonly state: 'read'; readonly ends: readonly WaveEnd[] }
  | { readonly state: 'unreadable'; readonly problem: string };

/** Reads `1,10%,100%`: after each wave so many workloads have the change. `none`: all at once. */
export function readWaves(text: string): WavesReading {
  if (text.trim() === 'none') return { state: 'none' };
  const words = text.split(',').map((word) => word.trim());
  const ends = words.flatMap((word) => waveEnd(word) ?? []);
  if (ends.length === words.length && ends.length <= MOST_WAVES) return { state: 'read', ends };
  const problem = `expected at most ${MOST_WAVES} numbers or percentages such as 1,10%,100%, or none, ${given(text)}`;
  return { state: 'unreadable', problem };
}

function waveEnd(word: string): WaveEnd | undefined {
  const [, digits = '', percent] = /^(\d{1,6})(%?)$/u.exec(word) ?? [];
  const number = Number(digits);
  if (digits === '' || number === 0) return undefined;
  if (percent === '') return { count: number };
  return number <= 100 ? { part: number / 100 } : undefined;
}

/** What the annotations for waves say, or the flags. */
export interface WaveSettings {
  readonly waves: string;
  /** Undefined: none. */
  readonly bake: string | undefined;
}

/** Returns how changes of a source come: by its own annotations, by those of its Namespace, or by the flags. Undefined: all at once. */
export function wavesFor(
  source: Annotations,
  namespace: Annotations,
  defaults: { readonly waves?: string | undefined; readonly bake?: string | undefined },
): WaveSettings | undefined {
  const of = (key: string): string | undefined => annotationOf(source, key) ?? annotationOf(namespace, key);
  const waves = of(WAVES_ANNOTATION) ?? defaults.waves ?? 'none';
  return waves.trim() === 'none' ? undefined : { waves, bake: of(BAKE_ANNOTATION) ?? defaults.bake };
}

/** Whether somebody has let the change of this data go on after a failed rollout. */
export function isResumed({ annotations, exists, rv, dataRv }: SourceRow): boolean {
  const [resumed = ''] = (annotationOf(annotations, RESUMED_ANNOTATION) ?? '').split(';');
  return isRv(resumed.trim()) && !isNewer(exists ? dataRv : rv, resumed.trim());
}

/** Returns how many workloads have the change after each wave. Waves that add none are left out; the last one reaches all. */
export function waveSizes(ends: readonly WaveEnd[], count: number): number[] {
  const sizes: number[] = [];
  for (const end of ends) {
    const size = Math.min(count, 'count' in end ? end.count : Math.ceil(end.part * count));
    if (size > (sizes.at(-1) ?? 0)) sizes.push(size);
  }
  if ((sizes.at(-1) ?? 0) < count) sizes.push(count);
  return sizes;
}

/** Milliseconds; undefined if it is not a duration of at most an hour. */
export function readBake(text: string): number | undefined {
  const bake = parseDuration(text.trim());
  return bake !== undefined && bake >= 0 && bake <= LONGEST_BAKE ? bake : undefined;
}

/** Why waves or the bake time cannot be read, in sentences; empty if they can. */
export function waveProblems({ waves, bake = '0' }: WaveSettings): string[] {
  const reading = readWaves(waves);
  return [
    ...(reading.state === 'unreadable' ? [`The waves cannot be read: ${reading.problem}.`] : []),
    ...(readBake(bake) === undefined
      ? ['The bake time cannot be read: expected a duration of at most 1h.']
      : []),
  ];
}

/** The place of a workload with this annotation: whole numbers from 0; others, and what cannot be read, come last. */
export function waveOf(text: string | undefined): number {
  return text !== undefined && /^\d{1,6}$/u.test(text.trim()) ? Number(text) : Infinity;
}

/** One of the workloads that a change concerns. */
export interface WaveMember {
  readonly workload: WorkloadKey;
  /** See `waveOf`. */
  readonly wave: number;
  /** Its pods were started with the current data, or are being replaced for it. */
  readonly isReloaded: boolean;
  /** What its last rollout came to. */
  readonly rollout: RolloutSeen;
}

export type RolloutSeen =
  /** `since`: Unix milliseconds. */
  | { readonly state: 'underWay' | 'unavailable'; readonly since: number }
  /** It waits for somebody, so that it takes as long as it takes. */
  | { readonly state: 'paused' }
  | { readonly state: 'stuck'; readonly code: string }
  /** `at`: Unix milliseconds, or later than it was. */
  | { readonly state: 'complete'; readonly at: number };

/** Sorts by wave, and then by kind, namespace and name. */
export function inWaveOrder<Each extends Pick<WaveMember, 'workload' | 'wave'>>(
  members: readonly Each[],
): Each[] {
  return members.toSorted((a, b) => a.wave - b.wave || (a.workload < b.workload ? -1 : 1));
}

/** A change with waves, and how far it has come. */
export interface WavedChange extends WaveSettings {
  /** Whether the change goes on although a rollout of it has failed. */
  readonly isResumed: boolean;
  /** All that the change concerns, in order. */
  readonly members: readonly WaveMember[];
  /** Unix milliseconds. */
  readonly now: number;
}

export interface WavesInput extends WavedChange {
  /** `<kind>/<name>` of the source. */
  readonly source: string;
  readonly workload: WorkloadKey;
}

/** Returns why the workload must not get the change now: an earlier wave is not done, or a rollout has failed. */
export function waveHold(input: WavesInput): ReloadHold | undefined {
  const { source, waves, bake: bakeText = '0', members, workload, now } = input;
  const reading = readWaves(waves);
  const bake = readBake(bakeText);
  if (reading.state === 'none') return undefined;
  const lookAt = now + Math.min(Math.max((members.length / LOOKS_PER_SECOND) * 1_000, FIRST_LOOK), LAST_LOOK);
  const wait = (detail: string): ReloadHold => ({ reason: 'AwaitsWave', lookAt, detail });
  if (reading.state === 'unreadable')
    return wait(`The waves of ${source} (${WAVES_ANNOTATION}) ${CANNOT_BE_READ}: ${reading.problem}`);
  if (bake === undefined)
    return wait(
      `The bake time of ${source} (${BAKE_ANNOTATION}) ${CANNOT_BE_READ}: expected a duration of at most 1h, ${given(bakeText)}`,
    );
  const sizes = waveSizes(reading.ends, members.length);
  const { number, start, end } = placeOf(workload, members, sizes);
  const failed = members.slice(0, end).find((each) => problemOf(each, now) !== undefined);
  if (failed && !input.isResumed)
    return {
      reason: 'WaveHalted',
      lookAt,
      halted: source,
      detail: `The change of ${source} is halted in wave ${waveAt(failed, members, sizes)} of ${sizes.length}: ${failed.workload} ${problemOf(failed, now)}. It continues when that workload recovers, when the data changes again, or after kubectl reroll resume`,
    };
  const earlier = members.slice(0, start).filter((each) => problemOf(each, now) === undefined);
  const open = earlier.find(({ isReloaded, rollout }) => !isReloaded || rollout.state !== 'complete');
  const what = `Wave ${number} of ${sizes.length} of ${source}`;
  if (open) return wait(`${what} waits for ${open.workload}, which ${stateOf(open)}`);
  const until = Math.max(0, ...earlier.map(completedAt)) + bake;
  if (until <= now) return undefined;
  return {
    reason: 'AwaitsWave',
    until,
    lookAt,
    detail: `${what} waits ${untilText(until)}: wave ${number - 1} is observed until then`,
  };
}

/** The wave of the workload, and the places of its first member and after its last one. What is not among them comes last. */
function placeOf(
  workload: WorkloadKey,
  members: readonly WaveMember[],
  sizes: readonly number[],
): { number: number; start: number; end: number } {
  const at = members.findIndex((each) => each.workload === workload);
  const index = at < 0 ? sizes.length - 1 : sizes.findIndex((size) => at < size);
  return { number: Math.max(0, index) + 1, start: sizes[index - 1] ?? 0, end: sizes[index] ?? 0 };
}

function waveAt(member: WaveMember, members: readonly WaveMember[], sizes: readonly number[]): number {
  const at = members.indexOf(member);
  return sizes.findIndex((size) => at < size) + 1;
}

/** What is wrong with a workload that has the change; undefined if nothing is. */
export function problemOf({ isReloaded, rollout }: WaveMember, now: number): string | undefined {
  if (!isReloaded) return undefined;
  if (rollout.state === 'stuck') return `is stuck (${rollout.code})`;
  if (rollout.state !== 'underWay' && rollout.state !== 'unavailable') return undefined;
  return now - rollout.since >= ROLLOUT_TIMEOUT
    ? 'is not rolled out and available after ten minutes'
    : undefined;
}

export const IS_COMPLETE = 'is complete';

const STATES: Readonly<Record<RolloutSeen['state'], string>> = {
  underWay: 'is rolling out',
  unavailable: 'has unavailable pods',
  paused: 'is paused',
  stuck: 'is stuck',
  complete: IS_COMPLETE,
};

/** `is rolling out` */
export function stateOf({ isReloaded, rollout }: WaveMember): string {
  return isReloaded ? STATES[rollout.state] : 'is not reloaded yet';
}

/** When its rollout was complete, in Unix milliseconds; 0 if it is not. */
export function completedAt({ rollout }: WaveMember): number {
  return rollout.state === 'complete' ? rollout.at : 0;
}
