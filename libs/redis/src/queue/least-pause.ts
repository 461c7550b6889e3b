import type { JobsOptions } from 'bullmq';

/**
 * Returns the shortest pause (ms) after failed attempt number `attempt` (from 1): the jitter only shortens the doubling pause. 0
 * for a job without back-off.
 */
export function leastPause(backoff: JobsOptions['backoff'], attempt: number): number {
  if (typeof backoff !== 'object') return backoff ?? 0;
  const { delay = 0, jitter = 0 } = backoff;
  return Math.floor(delay * 2 ** (attempt - 1) * (1 - jitter));
}
