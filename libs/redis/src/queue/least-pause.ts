import type { JobsOptions } from 'bullmq';

/**
 * The least pause (ms) after an attempt, 1 for the first, that failed: the jitter of our queues only shortens what
 * doubles. 0 for a job without back-off.
 */
export function leastPause(backoff: JobsOptions['backoff'], attempt: number): number {
  if (typeof backoff !== 'object') return backoff ?? 0;
  const { delay = 0, jitter = 0 } = backoff;
  return Math.floor(delay * 2 ** (attempt - 1) * (1 - jitter));
}
