import { z } from 'zod';
import { CHANGE_CAUSES } from '@reroll/core/history/entries';
import { RELOAD_STATES } from '@reroll/core/history/states';
import {
  hash,
  namespaceName,
  reason,
  sourceKeyText,
  sourceRef,
  time,
  workloadKeyText,
  workloadRef,
} from './common.ts';
import { page, pageQuery } from './page.ts';
import { rollout } from './rollout.ts';

export const reloadState = z.enum(RELOAD_STATES).meta({ id: 'ReloadState' });

export const cause = z.enum(CHANGE_CAUSES).meta({ id: 'Cause' });

export const actorRequest = z
  .strictObject({ actor: z.string(), reason: z.string() })
  .meta({ id: 'ActorRequest' });

export const changeWorkload = z
  .strictObject({
    workload: workloadRef,
    verdict: z.enum(['reload', 'skip']),
    /** The reason that the rules gave when the change was processed. */
    reason,
    detail: z.string(),
    state: reloadState,
    /** The reason of the outcome, or of what the reload waits for, once that is known. */
    outcome: reason.nullable(),
    /** Verdict or reason of each source that the outcome considered, by `<kind>/<name>`. */
    sources: z.record(z.string(), z.string()).optional(),
    until: time.nullable(),
    attempts: z.strictObject({ made: z.number().int(), most: z.number().int().nullable() }).nullable(),
    error: z.string().nullable(),
    decidedAt: time.nullable(),
    endedAt: time.nullable(),
    rollout: rollout.nullable(),
  })
  .meta({ id: 'ChangeWorkload' });

const count = z.number().int();

/** Numbers of workloads that are not listed: the history keeps only the first of each list. */
export const moreWorkloads = z.strictObject({ woken: count, leftAlone: count }).meta({
  id: 'MoreWorkloads',
  description:
    'How many workloads got a reload job, or were left alone, beyond those listed. Present if a list is cut. GET /explain explains ' +
    'each of them as it is now.',
});

const summary = {
  id: z.string().meta({ example: '1763737200123-0' }),
  /** Null for a manual reload, which no source caused. */
  source: sourceRef.nullable(),
  /** Of a manual reload. */
  workload: workloadRef.optional(),
  cause,
  seenAt: time,
  takenUpAt: time,
  from: hash.nullable(),
  to: hash.nullable(),
  request: actorRequest.nullable(),
  more: moreWorkloads.optional(),
  /** Number of earlier changes of the source within a minute that reloaded nothing and have no entries of their own. */
  merged: count.optional(),
};

/** A change in a list, with the number of workloads in each state that the caller may see. */
export const changeSummary = z
  .strictObject({
    ...summary,
    states: z.partialRecord(reloadState, z.number().int()),
    /** How many workloads wait because another one with this change failed. */
    halted: count,
  })
  .meta({ id: 'ChangeSummary' });

export const change = z
  .strictObject({
    ...summary,
    /** Whether the source got other data since, even if it has the same again. */
    overtaken: z.boolean(),
    workloads: z.array(changeWorkload),
    /**
     * How many of the unlisted workloads that got a reload job have ended, by the reason of their outcome; holds and attempts that are
     * retried are left out. Null: unknown, because the source changed again. Present if the list is cut.
     */
    counted: z.record(z.string(), count).nullable().optional(),
  })
  .meta({ id: 'Change' });

export const changeParams = z.strictObject({
  id: z.string().regex(/^\d{1,15}-\d{1,10}$/, 'expected the id of a change, e.g. 1763737200123-0'),
});
export const changesQuery = z.strictObject({
  ...pageQuery,
  namespace: namespaceName.optional(),
  source: sourceKeyText.optional(),
  workload: workloadKeyText.optional(),
  state: reloadState.optional(),
  /** Only those with workloads that are `halted`. */
  halted: z.literal('true').optional(),
  cause: cause.optional(),
  /** Only those seen at this time or later. */
  since: time.optional(),
  /** Only those seen before this time. */
  until: time.optional(),
});
export const changesPage = page(changeSummary).meta({ id: 'ChangesPage' });
export type ChangeSummary = z.infer<typeof changeSummary>;
export type Change = z.infer<typeof change>;
export type ChangeWorkload = z.infer<typeof changeWorkload>;
