const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

interface Step {
  /** Ages below this, */
  readonly below: number;
  /** in this unit, */
  readonly unit: readonly [size: number, name: string];
  /** and, if it is not zero, the rest in this one. */
  readonly rest?: readonly [size: number, name: string];
}

/** As kubectl's: `duration.HumanDuration` of apimachinery. */
const STEPS: readonly Step[] = [
  { below: 2 * MINUTE, unit: [SECOND, 's'] },
  { below: 10 * MINUTE, unit: [MINUTE, 'm'], rest: [SECOND, 's'] },
  { below: 3 * HOUR, unit: [MINUTE, 'm'] },
  { below: 8 * HOUR, unit: [HOUR, 'h'], rest: [MINUTE, 'm'] },
  { below: 2 * DAY, unit: [HOUR, 'h'] },
  { below: 8 * DAY, unit: [DAY, 'd'], rest: [HOUR, 'h'] },
  { below: 2 * YEAR, unit: [DAY, 'd'] },
  { below: 8 * YEAR, unit: [YEAR, 'y'], rest: [DAY, 'd'] },
  { below: Infinity, unit: [YEAR, 'y'] },
];

/** Formats milliseconds as `45s`, `3m20s`, `47h`, … Negative ones are `0s`, because another machine's clock may be ahead. */
export function humanDuration(milliseconds: number): string {
  const age = Math.max(0, milliseconds);
  const step = STEPS.find(({ below }) => age < below) ?? { below: Infinity, unit: [YEAR, 'y'] as const };
  const [size, name] = step.unit;
  const whole = `${Math.floor(age / size)}${name}`;
  if (!step.rest) return whole;
  const rest = Math.floor((age % size) / step.rest[0]);
  return rest === 0 ? whole : `${whole}${rest}${step.rest[1]}`;
}

/** How long ago an RFC 3339 time was; `<unknown>` without a time, as in kubectl. */
export function age(time: string | null | undefined, now: number): string {
  const at = Date.parse(time ?? '');
  return Number.isNaN(at) ? '<unknown>' : humanDuration(now - at);
}

/** How long it is until an RFC 3339 time; `now` if it is past. */
export function until(time: string, now: number): string {
  const at = Date.parse(time);
  if (Number.isNaN(at)) return '<unknown>';
  return at <= now ? 'now' : humanDuration(at - now);
}
