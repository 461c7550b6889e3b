import { z } from 'zod';
import type { SourceKey, WorkloadKey } from '@reroll/core/model';
import { KNOWN_SOURCE_KEY, SOURCE_KEY, WORKLOAD_KEY } from '../key-schemas.ts';

/**
 * Payloads are keys: whoever handles a job reads the present, so a job that is handled twice, late or out of
 * order ends the same. `v` is the payload's version; a worker leaves what it does not know in the queue.
 */

/** Unix milliseconds at which the change was first seen: for metrics only, nothing is decided by it. */
const SINCE = z.number().int().nonnegative();

export const changeJob = z.strictObject({ v: z.literal(1), source: SOURCE_KEY, since: SINCE });
export const reloadJob = z.strictObject({
  v: z.literal(1),
  workload: WORKLOAD_KEY,
  since: SINCE,
  /** The source whose change enqueued it, if it was one; left out if its kind is one of a newer version. */
  source: KNOWN_SOURCE_KEY.optional(),
});

export const resumeJob = z.strictObject({ v: z.literal(1), workload: WORKLOAD_KEY });

export type ChangeJob = z.infer<typeof changeJob>;
export type ReloadJob = z.infer<typeof reloadJob>;
/** A workload whose pause may be over; when, its object says. */
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
  /** Of a version that this process does not know: it stays queued for one that does. */
  | { readonly state: 'unknownVersion'; readonly version: number }
  | { readonly state: 'invalid'; readonly problem: string };

/** Reads a payload. What is wrong is told by path and rule, never by value. */
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

/** zod's words, except that they name keys that nobody expects, which may be anything. */
function ruleOf({ code, message }: z.core.$ZodIssue): string {
  return code === 'unrecognized_keys' ? 'a key that is not known' : message;
}
