import { setImmediate as turn } from 'node:timers/promises';
import { ProblemError } from '../http/problem-error.ts';

/** Milliseconds of work after which other requests run. */
const LONGEST_RUN = 8;

/**
 * Runs all steps, yielding to other requests by time. Throws a `ProblemError` `Unavailable` at the start, and at the first pause, after the
 * signal has fired, because nothing waits for the answer any longer.
 */
export async function inTurns<Result>(
  steps: Iterator<unknown, Result, void>,
  signal: AbortSignal,
  now: () => number = () => performance.now(),
): Promise<Result> {
  mustBeAwaited(signal);
  let began = now();
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    if (now() - began < LONGEST_RUN) continue;
    await turn();
    mustBeAwaited(signal);
    began = now();
  }
}

/** Throws if the client has disconnected or the deadline has passed. */
export function mustBeAwaited(signal: AbortSignal): void {
  if (signal.aborted) throw new ProblemError('Unavailable', { detail: 'the answer took too long' });
}
