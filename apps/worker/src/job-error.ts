import type { ReloadRequest } from '@reroll/redis/catalog/requests';
import type { Reason } from '@reroll/core/reasons';
import { KubeError } from '@reroll/kube/client/errors';
import type { WorkloadNow } from './reload/workload-reader.ts';

/**
 * What a job fails with: a reason and a code of ours. BullMQ writes an error's message and stack into Redis,
 * so nothing else may be in them.
 */
export class JobError extends Error {
  override readonly name = 'JobError';
  readonly reason: Reason;
  readonly code: string;
  /** Trying again cannot help until something changes. */
  readonly isFinal: boolean;
  /** A person asked for it. */
  request?: ReloadRequest | undefined;
  /** The workload that it was about, if it had been read. */
  subject?: WorkloadNow;
  /** Sources (`<kind>/<name>`) for which that was to be rolled, if they were known by then. */
  pending: readonly string[] = [];

  constructor(reason: Reason, code: string, isFinal = false) {
    super(`${reason}: ${code}`);
    this.reason = reason;
    this.code = code;
    this.isFinal = isFinal;
  }
}

/** The one place that says what an error means for a job. */
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

/** Path of the annotations that are more than the API server allows; undefined: it refused something else. */
function refusedAnnotations({ status, causes }: KubeError): string | undefined {
  const isFull = causes.every(
    ({ reason, field }) => reason === 'FieldValueTooLong' && /\bannotations$/u.test(field),
  );
  return status === 422 && isFull ? causes[0]?.field : undefined;
}

/** It is too early for what a job is about; to be tried again after `wait` milliseconds, at no attempt's cost. */
export class NotYetError extends Error {
  override readonly name = 'NotYetError';
  readonly wait: number;

  constructor(reason: Reason, wait: number) {
    super(`${reason}: wait ${wait} ms`);
    this.wait = wait;
  }
}
