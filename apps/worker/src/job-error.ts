import type { ReloadRequest } from '@reroll/redis/catalog/requests';
import type { Reason } from '@reroll/core/reasons';
import { KubeError } from '@reroll/kube/client/errors';
import type { ReloadOutcome } from './reload/reload-outcome.ts';
import type { WorkloadNow } from './reload/workload-reader.ts';

/**
 * The error that a job fails with: a reason and a code, both ours. BullMQ writes an error's message to Redis,
 * so it must hold nothing else.
 */
export class JobError extends Error {
  override readonly name = 'JobError';
  readonly reason: Reason;
  readonly code: string;
  /** A retry cannot succeed until something changes. */
  readonly isFinal: boolean;
  /** The manual reload that was requested, if any. */
  request?: ReloadRequest | undefined;
  /** The workload, if it had been read. */
  subject?: WorkloadNow;
  /** The sources (`<kind>/<name>`) for which the workload is pending, if known. */
  pending: readonly string[] = [];

  constructor(reason: Reason, code: string, isFinal = false) {
    super(`${reason}: ${code}`);
    this.reason = reason;
    this.code = code;
    this.isFinal = isFinal;
  }
}

/** Translates any error into the error of a job. The only place that does. */
export function jobErrorOf(error: unknown): JobError {
  if (error instanceof JobError) return error;
  if (!(error instanceof KubeError))
    return new JobError('Failed', error instanceof Error ? error.name : typeof error);
  const code = `${error.code} ${error.status} ${error.reason}`;
  if (error.status === 403) return new JobError('Forbidden', code);
  const full = refusedAnnotations(error);
  if (full !== undefined)
    return new JobError('AnnotationsFull', `the API server refused ${full}: too long`, true);
  if (error.status === 422) return new JobError('Invalid', code, true);
  if (error.retryable || error.status === 0) return new JobError('ApiUnavailable', code);
  return new JobError('Failed', code);
}

/** The path of the annotations that exceed the API server's limit; undefined if it refused something else. */
function refusedAnnotations({ status, causes }: KubeError): string | undefined {
  const isFull = causes.every(
    ({ reason, field }) => reason === 'FieldValueTooLong' && /\bannotations$/u.test(field),
  );
  return status === 422 && isFull ? causes[0]?.field : undefined;
}

/** Thrown if it is too early for the job. The job is retried after `wait` milliseconds without using up an attempt. */
export class NotYetError extends Error {
  override readonly name = 'NotYetError';
  readonly wait: number;
  /** What to report of a job that is left to other workers. */
  readonly left: ReloadOutcome | undefined;

  constructor(reason: Reason, wait: number, left?: ReloadOutcome) {
    super(`${reason}: wait ${wait} ms`);
    this.wait = wait;
    this.left = left;
  }
}
