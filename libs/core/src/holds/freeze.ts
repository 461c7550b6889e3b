import { isTime } from '../durations.ts';
import { given, untilText, type ReloadHold } from './hold.ts';

/** Characters of a freeze's reason, so that the annotation is within what Reroll reads. */
export const MOST_FREEZE_REASON = 150;

/** The value of a freeze's annotation. `end`: Unix milliseconds; undefined: until somebody ends it. */
export function freezeText(end: number | undefined, reason: string): string {
  return `${end === undefined ? '' : new Date(end).toISOString()}; ${reason}`;
}

/** RFC 3339, with a time zone. */
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})$/iu;
const LIKE_TIME = /^\d{4}-/u;

/**
 * Returns the hold of a freeze: `<end>; <reason>`, of which either may be missing. Undefined if it is over. What looks like a time and
 * cannot be read as one freezes without an end. `where` names the object with the annotation.
 */
export function freezeHold(text: string, where: string, now: number): ReloadHold | undefined {
  const [first = '', ...rest] = text.split(';').map((part) => part.trim());
  const end = endIn(first);
  if (!Number.isNaN(end)) {
    const detail = `${where} is frozen ${untilText(end)}${because(rest.join('; '))}`;
    return now < end ? { reason: 'Frozen', until: end, detail } : undefined;
  }
  const problem = LIKE_TIME.test(first)
    ? `; its end cannot be read: expected a time such as 2026-12-31T00:00:00Z, ${given(first)}`
    : '';
  const reason = problem === '' ? [first, ...rest] : rest;
  const detail = `${where} is frozen until somebody ends it${because(reason.filter(Boolean).join('; '))}${problem}`;
  return { reason: 'Frozen', detail };
}

/** NaN if it is not a time: `Date.parse` alone takes the 31st of February for a day in March. */
function endIn(text: string): number {
  const end = TIME.test(text) ? Date.parse(text) : Number.NaN;
  const day = text.slice(0, 10);
  const isDay = isTime(end) && new Date(day).toISOString().startsWith(day);
  return isDay ? end : Number.NaN;
}

function because(reason: string): string {
  return reason === '' ? '' : `: ${reason}`;
}
