import { ProblemError } from '../http/problem-error.ts';

/** The rules need the settings of a worker, and no worker was seen for long. */
export function noSettings(): ProblemError {
  return new ProblemError('Unavailable', {
    detail: 'No worker was heard of in the last minutes, so nobody tells by which settings it is decided.',
  });
}
