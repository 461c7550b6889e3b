import { Temporal } from 'temporal-polyfill';
import { given } from './hold.ts';

/** A span of the day, on some days of the week. One whose end is not after its start ends on the next day. */
interface Window {
  /** 1 is Monday. */
  readonly days: ReadonlySet<number>;
  /** Minutes since midnight; the end may be 1,440. */
  readonly start: number;
  readonly end: number;
  /** IANA name. */
  readonly zone: string;
}

export type Windows =
  | { readonly state: 'always' }
  | { readonly state: 'read'; readonly windows: readonly Window[] }
  /** What was expected and what was given. */
  | { readonly state: 'unreadable'; readonly problem: string };

/** Whether a window is open, and until when (Unix milliseconds) that stays so; undefined: no window opens. */
export interface WindowState {
  readonly isOpen: boolean;
  readonly until: number | undefined;
}

const EVERY_DAY = 'mon-sun';
const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
const FORM = /^(?:([a-z,-]+)\s+)?(\d{1,2}:\d{2})\s*-\s*(\d{1,2}:\d{2})(?:\s+(\S+))?$/iu;
/** The form of an IANA name. Temporal also takes offsets, and times that have a zone. */
const ZONE = /^[a-z][\w+/-]*$/iu;
const EXPECTED =
  'expected windows such as "Mon-Fri 22:00-04:00 Europe/Berlin", separated by ";", or "always"';
const MINUTES_OF_DAY = 1_440;
/** Enough to find the next window of one day of the week, also if the change of the clock leaves that of next week empty. */
const DAYS_AHEAD = 15;

/**
 * Reads windows, separated by `;`: `[<days>] <hh:mm>-<hh:mm> [<zone>]`. Days: `Mon`, `Mon-Fri`, `Sat,Sun`; default every day, and the
 * day on which a window begins. Zone: an IANA name; default UTC. `always`: no window.
 */
export function readWindows(text: string): Windows {
  if (text.trim().toLowerCase() === 'always') return { state: 'always' };
  const windows: Window[] = [];
  for (const part of text.split(';').map((each) => each.trim())) {
    if (part === '') continue;
    const window = readWindow(part);
    if (window === undefined) return { state: 'unreadable', problem: `${EXPECTED}, ${given(part)}` };
    windows.push(window);
  }
  return windows.length === 0
    ? { state: 'unreadable', problem: `${EXPECTED}, ${given(text)}` }
    : { state: 'read', windows };
}

/**
 * Returns whether one of the windows is open. A time that the clock skips counts as the time after the gap; one that it repeats, as
 * the first. `now` may have fractions.
 */
export function windowState(windows: readonly Window[], now: number): WindowState {
  const spans = windows.flatMap((window) => spansOf(window, now));
  const open = spans.filter(({ start, end }) => start <= now && now < end);
  if (open.length > 0) return { isOpen: true, until: Math.max(...open.map(({ end }) => end)) };
  const starts = spans.map(({ start }) => start).filter((start) => start > now);
  return { isOpen: false, until: starts.length === 0 ? undefined : Math.min(...starts) };
}

function readWindow(text: string): Window | undefined {
  const [, named = EVERY_DAY, from = '', to = '', zone = 'UTC'] = FORM.exec(text) ?? [];
  const days = readDays(named);
  const span = readSpan(from, to);
  return days && span && isZone(zone) ? { days, ...span, zone } : undefined;
}

function readSpan(from: string, to: string): Pick<Window, 'start' | 'end'> | undefined {
  const [start, end] = [minutes(from), minutes(to)];
  if (start === undefined || end === undefined) return undefined;
  return start !== end && start < MINUTES_OF_DAY ? { start, end } : undefined;
}

function readDays(text: string): Set<number> | undefined {
  const days = new Set<number>();
  for (const part of text.toLowerCase().split(',')) {
    const [first = '', last = first, ...more] = part.split('-');
    const [from, to] = [DAYS.indexOf(first), DAYS.indexOf(last)];
    if (from < 0 || to < 0 || more.length > 0) return undefined;
    for (let at = from; ; at = (at + 1) % DAYS.length) {
      days.add(at + 1);
      if (at === to) break;
    }
  }
  return days;
}

/** Minutes since midnight, of `<hh:mm>`. */
function minutes(text: string): number | undefined {
  const [hours = Number.NaN, rest = Number.NaN] = text.split(':').map(Number);
  const total = hours * 60 + rest;
  return rest < 60 && total <= MINUTES_OF_DAY ? total : undefined;
}

function isZone(zone: string): boolean {
  if (!ZONE.test(zone)) return false;
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(zone);
    return true;
  } catch {
    return false;
  }
}

/** The spans from yesterday to the next that begins; a span that the change of the clock leaves empty is left out. */
function spansOf({ days, start, end, zone }: Window, now: number): { start: number; end: number }[] {
  const instant = Temporal.Instant.fromEpochMilliseconds(Math.floor(now));
  const today = instant.toZonedDateTimeISO(zone).toPlainDate();
  const spans: { start: number; end: number }[] = [];
  for (let ahead = -1; ahead <= DAYS_AHEAD; ahead += 1) {
    const day = today.add({ days: ahead });
    if (!days.has(day.dayOfWeek)) continue;
    const from = instantOf(day, start, zone);
    const to = instantOf(end > start ? day : day.add({ days: 1 }), end, zone);
    if (to <= from) continue;
    spans.push({ start: from, end: to });
    if (from > now) break;
  }
  return spans;
}

function instantOf(day: Temporal.PlainDate, minute: number, zone: string): number {
  const date = minute === MINUTES_OF_DAY ? day.add({ days: 1 }) : day;
  const time = minute % MINUTES_OF_DAY;
  const plainTime = new Temporal.PlainTime(Math.floor(time / 60), time % 60);
  return date.toZonedDateTime({ timeZone: zone, plainTime }).epochMilliseconds;
}
