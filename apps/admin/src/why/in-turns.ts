import { setImmediate as turn } from 'node:timers/promises';
import { ProblemError } from '../http/problem-error.ts';

/** Milliseconds of work after which other requests get their turn. */
const LONGEST_RUN = 8;

/**
 * Goes through the steps to their end, with rests by time. Throws a `ProblemError` `Unavailable` at the first rest after the
 * signal has fired: nobody waits for the answer any more.
 */
export async function inTurns<Result>(
  steps: Iterator<unknown, Result, void>,
  signal: AbortSignal,
  now: () => number = () => performance.now(),
): Promise<Result> {
  let began = now();
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    if (now() - began < LONGEST_RUN) continue;
    // oxlint-disable-next-line no-await-in-loop -- one step after the other is the point
    await turn();
    mustBeAwaited(signal);
    began = now();
  }
}

/** Throws if the caller has gone, or was told that it took too long. */
export function mustBeAwaited(signal: AbortSignal): void {
  if (signal.aborted) throw new ProblemError('Unavailable', { detail: 'the answer took too long' });
}
