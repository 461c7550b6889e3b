/** The longest that the API says (s). */
const LONGEST = 120;

let until = 0;

/** The API has refused a request as one too many: nothing is asked by itself for so many seconds. */
export function keepCalm(seconds: number): void {
  until = Math.max(until, Date.now() + Math.min(seconds, LONGEST) * 1_000);
}

/** Whoever asks now is another caller, whom the API has not refused. */
export function endCalm(): void {
  until = 0;
}

/** Milliseconds for which nothing is asked by itself. */
export function calmFor(): number {
  return Math.max(0, until - Date.now());
}

/** The end of this; undefined: it is over. */
export function calmUntil(): Date | undefined {
  return calmFor() > 0 ? new Date(until) : undefined;
}

/** Of a `Retry-After` in seconds; undefined if there is none that can be used. */
export function secondsOf(retryAfter: string | null): number | undefined {
  return retryAfter !== null && /^\d{1,6}$/.test(retryAfter) ? Number(retryAfter) : undefined;
}
