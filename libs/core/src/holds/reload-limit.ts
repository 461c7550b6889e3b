import { annotationOf } from '../annotations/annotation-keys.ts';
import { parseDuration } from '../durations.ts';
import type { Annotations } from '../model.ts';
import { given, LIMIT_ANNOTATION } from './hold.ts';

/** At most `count` reloads in `period` milliseconds. */
export interface ReloadLimit {
  readonly count: number;
  readonly period: number;
}

/** The reloads of a workload that its limit counts. */
export interface PastReloads {
  /** Unix seconds, oldest first; at most as many as the limit allows. */
  readonly times: readonly number[];
  /** How many reloads in a row came as soon as the limit let them. Each doubles the wait for the next one. */
  readonly level: number;
}

export const NO_RELOADS: PastReloads = Object.freeze({ times: Object.freeze([]), level: 0 });

const MOST_COUNT = 50;
const LEAST_PERIOD = 1_000;
const MOST_PERIOD = 86_400_000;
/** The longest wait after a reload, unless the period itself is longer. */
const LONGEST_WAIT = 3_600_000;
const MOST_LEVEL = 12;
/** A reload within this part of the period after the end of a hold was waiting for it. */
const AT_ONCE = 0.1;

export type LimitReading =
  | { readonly state: 'none' }
  | { readonly state: 'read'; readonly limit: ReloadLimit }
  | { readonly state: 'unreadable'; readonly problem: string };

/** Reads `<count>/<duration>`, such as `10/10m`; `none` for no limit. */
export function readLimit(text: string): LimitReading {
  const trimmed = text.trim();
  if (trimmed === 'none') return { state: 'none' };
  const [, count = '', duration = ''] = /^(\d{1,4})\/(.+)$/u.exec(trimmed) ?? [];
  const limit = { count: Number(count), period: parseDuration(duration) ?? 0 };
  const isRead =
    limit.count >= 1 &&
    limit.count <= MOST_COUNT &&
    limit.period >= LEAST_PERIOD &&
    limit.period <= MOST_PERIOD;
  if (isRead) return { state: 'read', limit };
  const problem = `expected a limit such as 10/10m (1 to ${MOST_COUNT} reloads in 1s to 24h) or none, ${given(text)}`;
  return { state: 'unreadable', problem };
}

/** What is wrong with the limit of a workload, for its owner; undefined if nothing is. */
export function limitProblem(workload: Annotations): string | undefined {
  const text = annotationOf(workload, LIMIT_ANNOTATION);
  const reading = text === undefined ? undefined : readLimit(text);
  return reading?.state === 'unreadable'
    ? `${LIMIT_ANNOTATION} cannot be read and is ignored: ${reading.problem}`
    : undefined;
}

/**
 * Returns when the next reload is allowed (Unix milliseconds; a time in the past: now). So many reloads fit in a period; after
 * each one that had to wait, the period counts twice as long as before, up to an hour after the last reload.
 */
export function nextReloadAt({ times, level }: PastReloads, { count, period }: ReloadLimit): number {
  const counted = times.slice(-count);
  const [first] = counted;
  if (first === undefined || counted.length < count) return 0;
  const byPeriod = (first + 1) * 1000 + period;
  const byLevel = (first + 1) * 1000 + period * 2 ** level;
  return Math.max(byPeriod, Math.min(byLevel, (counted.at(-1) ?? first) * 1000 + LONGEST_WAIT));
}

/** The reloads after one more at `now` (Unix milliseconds). */
export function withReload(past: PastReloads, limit: ReloadLimit, now: number): PastReloads {
  const allowedAt = nextReloadAt(past, limit);
  const waited = allowedAt > 0 && now - allowedAt <= limit.period * AT_ONCE;
  const times = [...past.times, Math.floor(now / 1000)].slice(-limit.count);
  return { times, level: waited ? Math.min(past.level + 1, MOST_LEVEL) : 0 };
}

/** `<level>.<first>.<later than the one before>…`, in seconds to the base 36. */
export function encodeReloads({ times, level }: PastReloads): string {
  const steps = times.map((time, at) => (at === 0 ? time : Math.max(0, time - (times[at - 1] ?? time))));
  return [level, ...steps].map((number) => number.toString(36)).join('.');
}

/**
 * Text that cannot be read counts as no reload, as do times later than a day from `now` (Unix milliseconds; default: the year 10000):
 * anybody may write it.
 */
export function decodeReloads(text: unknown, now = Date.UTC(10_000)): PastReloads {
  if (
    typeof text !== 'string' ||
    text.length > 12 * MOST_COUNT ||
    !/^[0-9a-z]{1,9}(?:\.[0-9a-z]{1,9})*$/u.test(text)
  )
    return NO_RELOADS;
  const [level = 0, ...steps] = text.split('.').map((part) => Number.parseInt(part, 36));
  let time = 0;
  const times = steps.map((step) => (time += step));
  return time * 1000 > now + MOST_PERIOD ? NO_RELOADS : { level: Math.min(level, MOST_LEVEL), times };
}
