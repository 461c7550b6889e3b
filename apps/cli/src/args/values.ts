import { parseDuration } from '@reroll/core/durations';
import { z } from 'zod';
import { usageError, type CliError } from '../errors.ts';

/** Milliseconds of `30s`, `2m`, or, as in kubectl, a number of seconds. `0` means no limit, which is undefined. */
export function durationArgument(flag: string, text: string): number | undefined {
  const milliseconds = /^\d+$/.test(text) ? Number(text) * 1_000 : parseDuration(text);
  if (milliseconds === undefined || milliseconds < 0) {
    throw usageError(`expected ${flag} to be a duration, e.g. 30s or 2m, given ${JSON.stringify(text)}`);
  }
  return milliseconds === 0 ? undefined : milliseconds;
}

/** RFC 3339 of a time, or of a time ago (`1h`). */
export function sinceArgument(flag: string, text: string, now: number): string {
  return new Date(timeOf(flag, text, (duration) => now - duration)).toISOString();
}

/** Unix milliseconds of a time in the future, or of a time from now (`12h`). */
export function untilArgument(flag: string, text: string, now: number): number {
  const time = timeOf(flag, text, (duration) => now + duration);
  if (time > now) return time;
  throw usageError(`expected a time in the future for ${flag}, given ${JSON.stringify(text)}`);
}

function timeOf(flag: string, text: string, at: (duration: number) => number): number {
  const duration = parseDuration(text);
  const time = duration === undefined || duration <= 0 ? timeIn(text) : at(duration);
  if (Number.isNaN(time)) {
    throw usageError(
      `expected ${flag} to be a time (2026-11-21T15:00:00Z) or a duration (1h), given ${JSON.stringify(text)}`,
    );
  }
  return time;
}

/** RFC 3339, also without seconds, time zone (that of this machine) or time of day (UTC). */
const TIME = /^(\d{4}-\d{2}-\d{2})(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})?)?$/iu;

/** NaN if it is none: `Date.parse` alone takes `45` for a year, and the 30th of February for a day in March. */
function timeIn(text: string): number {
  const date = TIME.exec(text)?.[1];
  return z.iso.date().safeParse(date).success ? Date.parse(text) : Number.NaN;
}

export function numberArgument(
  flag: string,
  text: string,
  { least, most, or }: { readonly least: number; readonly most: number; readonly or?: string },
): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < least || value > most) {
    const expected = `a number of ${least} to ${most}${or === undefined ? '' : `, or ${or}`}`;
    throw usageError(`expected ${flag} to be ${expected}, given ${JSON.stringify(text)}`);
  }
  return value;
}

/** One of a list of words, in any case. */
export function wordArgument<Word extends string>(flag: string, text: string, words: readonly Word[]): Word {
  const found = words.find((word) => word.toLowerCase() === text.toLowerCase());
  if (found === undefined) throw notOneOf(flag, text, words);
  return found;
}

export function notOneOf(flag: string, text: string, words: readonly string[]): CliError {
  return usageError(`expected ${flag} to be one of ${words.join(', ')}, given ${JSON.stringify(text)}`);
}

/** What `read` makes of an option that may not have been given. */
export function ifGiven<Given, Result>(
  given: Given | undefined,
  read: (given: Given) => Result,
): Result | undefined {
  return given === undefined ? undefined : read(given);
}
