import { z } from 'zod';
import type { SourceKey, WorkloadKey } from '@reroll/core/model';
import { KNOWN_SOURCE_KEY, SOURCE_KEY, WORKLOAD_KEY } from '../key-schemas.ts';

/**
 * Payloads hold keys only. Whoever handles a job reads the present state, so a job that runs twice, late or out of order has the
 * same result. `v` is the payload's version; a worker leaves unknown versions in the queue.
 */

/** Unix milliseconds at which the change was first seen; only for metrics. */
const SINCE = z.number().int().nonnegative();

export const changeJob = z.strictObject({ v: z.literal(1), source: SOURCE_KEY, since: SINCE });
export const reloadJob = z.strictObject({
  v: z.literal(1),
  workload: WORKLOAD_KEY,
  since: SINCE,
  /** The source whose change enqueued the job, if any; left out if only a newer version knows its kind. */
  source: KNOWN_SOURCE_KEY.optional(),
});

export const resumeJob = z.strictObject({ v: z.literal(1), workload: WORKLOAD_KEY });

export type ChangeJob = z.infer<typeof changeJob>;
export type ReloadJob = z.infer<typeof reloadJob>;
/** A workload whose pause may be over; the workload itself holds the time. */
export type ResumeJob = z.infer<typeof resumeJob>;

export function changeJobOf(source: SourceKey, since: number): ChangeJob {
  return { v: 1, source, since };
}

export function reloadJobOf(workload: WorkloadKey, since: number, source?: SourceKey): ReloadJob {
  return { v: 1, workload, since, ...(source === undefined ? {} : { source }) };
}

export function resumeJobOf(workload: WorkloadKey): ResumeJob {
  return { v: 1, workload };
}

export type PayloadReading<T> =
  | { readonly state: 'read'; readonly payload: T }
  /** The version is not known to this process; the job stays queued for one that knows it. */
  | { readonly state: 'unknownVersion'; readonly version: number }
  | { readonly state: 'invalid'; readonly problem: string };

/** Parses a payload. Problems name the path and the rule, never a value. */
export function readPayload<T>(schema: z.ZodType<T>, data: unknown): PayloadReading<T> {
  const parsed = schema.safeParse(data);
  if (parsed.success) return { state: 'read', payload: parsed.data };
  const version = typeof data === 'object' && data !== null && 'v' in data ? data.v : undefined;
  if (typeof version === 'number' && version > 1) return { state: 'unknownVersion', version };
  const problem = parsed.error.issues.map(
    (issue) => `${issue.path.join('.') || 'payload'}: ${ruleOf(issue)}`,
  );
  return { state: 'invalid', problem: problem.join('; ') };
}

/** zod's message, except for unexpected keys, whose names could be anything. */
function ruleOf({ code, message }: z.core.$ZodIssue): string {
  return code === 'unrecognized_keys' ? 'a key that is not known' : message;
}
