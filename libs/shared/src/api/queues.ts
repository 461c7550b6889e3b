import { z } from 'zod';
import { time, writeReason } from './common.ts';
import { page, pageQuery } from './page.ts';

export const QUEUE_NAMES = ['changes', 'reloads', 'resumes', 'notifications'] as const;
export const queueName = z.enum(QUEUE_NAMES).meta({ id: 'QueueName' });
export const jobState = z.enum(['waiting', 'delayed', 'active', 'failed']).meta({ id: 'JobState' });

export const queue = z
  .strictObject({
    name: queueName,
    paused: z.boolean(),
    /** Counts of the jobs that the caller may see. */
    counts: z.record(jobState, z.number().int()),
    /** Seconds for which the job that has been due longest has waited. */
    oldestDueSeconds: z.number(),
  })
  .meta({ id: 'Queue' });
export const queues = z.strictObject({ items: z.array(queue) }).meta({ id: 'Queues' });

export const job = z
  .strictObject({
    id: z.string().meta({ example: 'reloads:1234' }),
    queue: queueName,
    state: jobState,
    /** `<kind>/<namespace>/<name>` of the object that the job names. */
    subject: z.string().nullable(),
    since: time.nullable(),
    createdAt: time,
    startedAt: time.nullable(),
    endedAt: time.nullable(),
    until: time.nullable(),
    attempts: z.strictObject({ made: z.number().int(), most: z.number().int() }),
    error: z.string().nullable(),
  })
  .meta({ id: 'Job' });

export const jobsQuery = z.strictObject({
  ...pageQuery,
  queue: queueName.optional(),
  state: jobState.optional(),
  /** Leaves out a failed job once what it was for is done, is no longer needed, or is about to be done by another job. */
  unresolved: z.literal('true').optional(),
});
export const jobsPage = page(job).meta({ id: 'JobsPage' });
export const jobParams = z.strictObject({
  /** BullMQ numbers the jobs of a queue. Keys with other ids are not jobs. */
  id: z
    .string()
    .regex(
      /^(changes|reloads|resumes|notifications):\d{1,20}$/,
      'expected <queue>:<number of the job>, e.g. reloads:1234',
    ),
});
export const queueParams = z.strictObject({ name: queueName });

/** The body of a write that takes only a reason. */
export const because = z.strictObject({ reason: writeReason }).meta({ id: 'Because' });

/** What a limit may be. */
export const LIMIT_BOUNDS = {
  concurrency: { least: 1, most: 1_000 },
  reloadsPerMinute: { least: 0, most: 100_000 },
} as const;

function limit({ least, most }: { readonly least: number; readonly most: number }) {
  return z.number().int().min(least).max(most).nullable();
}

/** Null: the value of the flag. */
export const limits = z
  .strictObject({
    /** Jobs of a queue that one worker handles concurrently. */
    concurrency: limit(LIMIT_BOUNDS.concurrency),
    /** For all workers together; 0: no limit. */
    reloadsPerMinute: limit(LIMIT_BOUNDS.reloadsPerMinute),
  })
  .meta({ id: 'Limits' });
/** A limit that is left out stays as it is. */
export const limitsRequest = z
  .strictObject({ ...limits.partial().shape, reason: writeReason })
  .refine(
    ({ concurrency, reloadsPerMinute }) => concurrency !== undefined || reloadsPerMinute !== undefined,
    'expected `concurrency`, `reloadsPerMinute` or both',
  )
  .meta({ id: 'LimitsRequest', minProperties: 2 });

export type Queue = z.infer<typeof queue>;
export type Job = z.infer<typeof job>;
export type Limits = z.infer<typeof limits>;
