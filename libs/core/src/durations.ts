/**
 * Durations in Go's notation (`1h30m`, `500ms`, `0`), plus `d` for days. In code, a duration is a number of milliseconds, with
 * fractions.
 */

const MS = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3, // U+00B5, micro sign
  μs: 1e-3, // U+03BC, Greek letter mu
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
} as const;

// There is one way to read any number: with `\d+\.?\d*`, a long one without a unit would take time for the square of its length.
const PART = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h|d)/gu;
const WHOLE = /^[-+]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h|d))+$/u;

/** The longest of Go's durations, 2^63 ns: 292 years. */
const LONGEST = 2 ** 63 * MS.ns;

/** Milliseconds, or undefined if the text is not a duration, or one longer than Go's. `0`, `+0` and `-0` need no unit, as in Go. */
export function parseDuration(text: string): number | undefined {
  if (/^[-+]?0$/u.test(text)) return 0;
  if (!WHOLE.test(text)) return undefined;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(PART)) total += Number(amount) * MS[unit as keyof typeof MS];
  if (total > LONGEST) return undefined;
  return text.startsWith('-') ? -total : total;
}

const YEAR_0 = Date.parse('0000-01-01T00:00:00Z');
const YEAR_10000 = Date.UTC(10_000);

/** Whether these Unix milliseconds are a time of the years that RFC 3339 can write. */
export function isTime(milliseconds: number): boolean {
  return milliseconds >= YEAR_0 && milliseconds < YEAR_10000;
}

const UNITS = ['d', 'h', 'm', 's', 'ms'] as const;

/** Returns the shortest text that `parseDuration` reads as this duration, rounded to milliseconds: `1h30m`. */
export function formatDuration(milliseconds: number): string {
  let rest = Math.round(Math.abs(milliseconds));
  if (rest === 0) return '0';
  let text = milliseconds < 0 ? '-' : '';
  for (const unit of UNITS) {
    const count = Math.floor(rest / MS[unit]);
    if (count > 0) text += `${count}${unit}`;
    rest -= count * MS[unit];
  }
  return text;
}
