import { z } from 'zod';
import { SOURCE_KINDS, WORKLOAD_KINDS } from '@reroll/core/model';
import { accepted } from './audit.ts';
import { BULK_LIMIT, MOST_IN_BULK } from './bulk-limits.ts';
import { namespaceName, sourceKeyText, writeReason } from './common.ts';
import { freezeRequest, reloadRequest } from './holds.ts';
import { PROBLEMS, type ProblemCode } from './problem.ts';
import { queueName } from './queues.ts';
import { workloadsQuery } from './workloads.ts';

/** At least one field: everything is never meant by leaving something out. */
const SOME = { minProperties: 1 } as const;
const isSome = (selector: object): boolean => Object.values(selector).some((value) => value !== undefined);
const SOME_EXPECTED = 'expected at least one field: an empty selector would match everything';

/** Part of a name. */
const name = z.string().regex(/^[-a-z0-9.]{1,253}$/, 'expected a part of a name');
const { namespace, kind, due, rollout } = workloadsQuery.shape;

export const workloadSelector = z
  .strictObject({
    namespace,
    kind,
    name: name.optional(),
    due,
    rollout,
    /** Only workloads that use, name or mention this source. */
    source: sourceKeyText.optional(),
  })
  .refine(isSome, SOME_EXPECTED)
  .meta({ id: 'WorkloadSelector', ...SOME });

export const jobSelector = z
  .strictObject({
    queue: queueName.optional(),
    namespace: namespaceName.optional(),
    /** Of the object that the job names. */
    kind: z.enum([...WORKLOAD_KINDS, ...SOURCE_KINDS]).optional(),
    name: name.optional(),
  })
  .refine(isSome, SOME_EXPECTED)
  .meta({ id: 'JobSelector', ...SOME });

/** Digest of what a bulk request matches: for each object its name and, if there is one, its `id`. */
const plan = z
  .string()
  .regex(/^[0-9a-f]{32}$/, 'expected the plan of a dry run')
  .meta({ id: 'BulkPlan', example: '0c6f2a4be1d94f37a5c8e2b1907d3f64' });

const guards = {
  /** If more match, nothing is done, and the response is `Conflict`. */
  limit: z.number().int().min(1).max(MOST_IN_BULK).default(BULK_LIMIT),
  /** The plan of a dry run. If something else matches now, nothing is done, and the response is `Conflict`. */
  plan: plan.optional(),
};
/** Whether to check and list what would be done, and to change nothing. */
const dryRun = z.boolean().default(false);
const bulk = { selector: workloadSelector, ...guards, dryRun };

export const bulkReload = z.strictObject({ ...reloadRequest.shape, ...bulk }).meta({ id: 'BulkReload' });
export const bulkFreeze = z.strictObject({ ...freezeRequest.shape, ...bulk }).meta({ id: 'BulkFreeze' });
export const bulkUnfreeze = z.strictObject({ reason: writeReason, ...bulk }).meta({ id: 'BulkUnfreeze' });
export const bulkRetry = z
  .strictObject({ reason: writeReason, ...bulk, selector: jobSelector })
  .meta({ id: 'BulkRetry' });

/** An approval is of what somebody has seen, so it needs the plan, except in a dry run. */
export const bulkApprove = z
  .strictObject({ reason: writeReason, ...bulk })
  .refine(({ dryRun: isDryRun, plan: given }) => isDryRun || given !== undefined, {
    path: ['plan'],
    error: 'expected the plan of a dry run',
  })
  .meta({ id: 'BulkApprove' });

export const bulkItem = z
  .strictObject({
    /** `<kind>/<namespace>/<name>` of the workload, or of the object that the job names. */
    target: z.string(),
    /** What is approved (`hold.id`), or the id of the job. Null for the other operations. */
    id: z.string().nullable(),
    /**
     * `planned`: a dry run would do it. `refused`: see `problem`. `failed`: the server could not; see `problem`.
     * `notStarted`: there was no time left, or too many requests. With the same idempotency key, a repetition does only what is not
     * done.
     */
    result: z.enum(['planned', 'done', 'refused', 'failed', 'notStarted']),
    /** The response that the operation on this one object would have had. */
    accepted: accepted.nullable(),
    problem: z
      .strictObject({
        code: z.enum(Object.keys(PROBLEMS) as [ProblemCode, ...ProblemCode[]]),
        detail: z.string().nullable(),
      })
      .nullable(),
  })
  .meta({ id: 'BulkItem' });

export const bulkResult = z
  .strictObject({ plan, dryRun: z.boolean(), items: z.array(bulkItem) })
  .meta({ id: 'BulkResult' });
export type BulkItem = z.infer<typeof bulkItem>;
