import { expect, it } from 'vitest';
import { WINDOW_ANNOTATION } from './hold.ts';
import { holdOf } from './reload-hold.ts';

const ZONES = ['Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe', 'UTC'] as const;
const COUNT = 1_000;
/** Milliseconds within which each window has opened: a day has 25 hours when clocks are set back. */
const LONGEST = 25 * 3_600_000;

interface Pending {
  readonly zone: (typeof ZONES)[number];
  /** Minutes since midnight. A window is an hour long, within a day. */
  readonly start: number;
  readonly window: string;
  /** When it is looked at next (Unix milliseconds). */
  lookAt: number;
  reloadedAt: number[];
}

function pending(at: number, from: number): Pending {
  const zone = ZONES[at % ZONES.length] ?? 'UTC';
  const start = (at * 37) % (22 * 60);
  const text = (minutes: number): string =>
    `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
  const window = `${text(start)}-${text(start + 60)} ${zone}`;
  return { zone, start, window, lookAt: from, reloadedAt: [] };
}

/** By the clocks of the platform, not by the library that reads windows. */
function minuteOf(time: number, timeZone: string): number {
  const parts = new Intl.DateTimeFormat('en', {
    timeZone,
    hour: 'numeric',
    minute: 'numeric',
    hourCycle: 'h23',
  }).formatToParts(time);
  const part = (type: string): number => Number(parts.find((each) => each.type === type)?.value);
  return part('hour') * 60 + part('minute');
}

it.each([
  ['on a day like others', '2026-11-25T12:17:00Z'],
  ['over a night in which clocks are changed', '2026-10-24T20:17:00Z'],
])(
  'of 1,000 pending workloads with windows in five zones, each is reloaded once, within its window, %s',
  (_, begin) => {
    const from = Date.parse(begin);
    const workloads = Array.from({ length: COUNT }, (_each, at) => pending(at, from));
    // A look at each one when its hold ends, as its job has it. Whatever is not held is reloaded, and pending no more.
    for (let waiting = [...workloads]; waiting.length > 0;) {
      for (const workload of waiting) {
        const now = workload.lookAt;
        const hold = holdOf({
          workload: { [WINDOW_ANNOTATION]: workload.window },
          namespace: {},
          installation: {},
          defaults: {},
          record: undefined,
          id: '',
          now,
        });
        if (hold) workload.lookAt = hold.until ?? Infinity;
        else workload.reloadedAt.push(now);
      }
      waiting = waiting.filter(
        ({ reloadedAt, lookAt }) => reloadedAt.length === 0 && lookAt <= from + LONGEST,
      );
    }
    for (const { reloadedAt, zone, start, window } of workloads) {
      expect(reloadedAt, window).toHaveLength(1);
      const [at = 0] = reloadedAt;
      const minute = minuteOf(at, zone);
      expect(minute >= start && minute < start + 60, `${window} at ${new Date(at).toISOString()}`).toBe(true);
    }
  },
);
