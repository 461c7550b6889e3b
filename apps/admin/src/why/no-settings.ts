import { ProblemError } from '../http/problem-error.ts';

/** The rules need the settings of a worker, and no worker was seen for long. */
export function noSettings(): ProblemError {
  return new ProblemError('Unavailable', {
    detail: 'No worker has reported in the last ten minutes, so the current settings are unknown.',
  });
}
