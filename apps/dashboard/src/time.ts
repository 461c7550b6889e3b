const CLOCK = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const YEAR = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });

/** The reader's zone, e.g. `Europe/Berlin`. */
export const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** In the reader's zone: `15:00:01`, with the day if it is another one, with the year if that is. */
export function localTime(time: Date, now: Date): string {
  const clock = CLOCK.format(time);
  if (time.toDateString() === now.toDateString()) return clock;
  const day = time.getFullYear() === now.getFullYear() ? DAY : YEAR;
  return `${day.format(time)}, ${clock}`;
}

/** `2026-11-21 15:00:01 UTC`. */
export function utcTime(time: Date): string {
  return `${time.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

const STEPS = [
  { most: 60, size: 1, unit: 's' },
  { most: 3_600, size: 60, unit: 'min' },
  { most: 172_800, size: 3_600, unit: 'h' },
  { most: Infinity, size: 86_400, unit: 'd' },
] as const;

/** `12 s`, `4 min`, `3 h`, `9 d`; less than a second is `0 s`. */
export function lasting(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const step = STEPS.find(({ most }) => whole < most) ?? STEPS[3];
  return `${Math.floor(whole / step.size)} ${step.unit}`;
}

/** How long a step took: `340 ms`, `1.2 s`, `2 min 5 s`, `3 h 2 min`. Clocks that disagree make it `0 ms`. */
export function took(milliseconds: number): string {
  const ms = Math.max(0, Math.round(milliseconds));
  if (ms < 1_000) return `${ms} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.floor(ms / 1_000);
  const rest = seconds < 3_600 ? seconds % 60 : seconds % 3_600;
  return seconds < 172_800 && lasting(rest) !== '0 s'
    ? `${lasting(seconds)} ${lasting(rest)}`
    : lasting(seconds);
}

/** `4 min ago`, `in 3 h`; `just now` for what is less than five seconds away. */
export function relativeTime(time: Date, now: Date): string {
  const seconds = secondsBetween(time, now);
  if (Math.abs(seconds) < 5) return 'just now';
  return seconds > 0 ? `${lasting(seconds)} ago` : `in ${lasting(-seconds)}`;
}

function secondsBetween(earlier: string | Date, later: Date): number {
  return (later.getTime() - new Date(earlier).getTime()) / 1_000;
}
