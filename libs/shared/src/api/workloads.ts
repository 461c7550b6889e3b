import { z } from 'zod';
import { actorRequest, cause, reloadState } from './changes.ts';
import {
  annotations,
  hash,
  namespaceName,
  objectName,
  reason,
  sourceKind,
  sourceRef,
  time,
  workloadKind,
  workloadRef,
} from './common.ts';
import { page, pageQuery } from './page.ts';
import { rollout } from './rollout.ts';

/** One source of a workload, or one workload of a source: the same facts from either side. */
export const edge = z
  .strictObject({
    /**
     * `used`: a container would carry the marker; `mentioned`: elsewhere in the pod template; `named`: only by an
     * annotation.
     */
    how: z.enum(['used', 'mentioned', 'named']),
    /** Whether a change of the data reloads the workload. */
    rolls: z.boolean(),
    reason,
    detail: z.string(),
    recorded: hash.nullable(),
    current: hash.nullable(),
    exists: z.boolean(),
    /** `owed`: a reload is pending; `correct`: only the record must be corrected; null: neither. */
    due: z.enum(['owed', 'correct']).nullable(),
    /** As `stale` of a workload, by the data of this source. */
    stale: z.boolean(),
  })
  .meta({ id: 'Edge' });

export const historyEntry = z
  .strictObject({
    /** The id of its change, if the history still has it; of several, one that has this state. */
    change: z.string().nullable(),
    source: sourceRef.nullable(),
    cause: cause.nullable(),
    workload: workloadRef,
    state: reloadState,
    reason,
    at: time,
    rolled: z.array(z.string()),
    error: z.string().nullable(),
    /** Who asked for it, if it is (also) the outcome of a manual reload. */
    request: actorRequest.optional(),
    /** What it is for further changes, at most 20; only in events. Absent: there are none. */
    otherChanges: z.array(z.strictObject({ change: z.string(), state: reloadState })).optional(),
  })
  .meta({ id: 'HistoryEntry' });

const summary = {
  ...workloadRef.shape,
  /** How many sources reload it. */
  sources: z.number().int(),
  due: z.enum(['owed', 'correct']).nullable(),
  /** Whether it was recorded as `StaleAtAdoption` and, as far as the history goes, its pods were not replaced since. */
  stale: z.boolean(),
  /** Why no source reloads it in its present state. */
  leftAlone: reason.nullable(),
  contested: z.boolean(),
  pausedUntil: time.nullable(),
  /** Why its pending reload is held, or waits for a worker with the hash key (`KeyUnknown`), as last reported. Null: neither. */
  hold: z
    .strictObject({
      reason,
      detail: z.string(),
      /** The id for `approveWorkload`, if it awaits an approval. */
      id: z.string().nullable(),
    })
    .nullable(),
  /**
   * How the last attempt at its pending reload or correction, or at a manual reload, ended. Null: it went well, there is a new job, or
   * nothing is pending.
   */
  lastAttempt: z
    .strictObject({ state: z.enum(['failed', 'retrying']), reason, at: time, error: z.string().nullable() })
    .nullable(),
  rollout: z.enum(['progressing', 'complete', 'stuck']),
  lastReload: z
    .strictObject({
      at: time,
      reason,
      change: z.string().nullable(),
      /** The sources for which its pods are being replaced, as `<kind>/<name>`: the first, if they are many. None once that rollout is complete. */
      rolled: z.array(z.string()),
    })
    .nullable(),
};

export const workloadSummary = z.strictObject(summary).meta({ id: 'WorkloadSummary' });

export const workload = z
  .strictObject({
    ...summary,
    generation: z.number().int(),
    /** Only those that the rules read. */
    annotations,
    podAnnotations: annotations,
    /** The limit that its lists of sources exceed. `annotations` and `podAnnotations` then lack the lists. Absent: none. */
    excess: z.string().optional(),
    sourcesInDetail: z.array(edge.extend({ source: sourceRef })),
    job: z
      .strictObject({ id: z.string(), state: z.string(), until: time.nullable(), attempts: z.number().int() })
      .nullable(),
    rolloutInDetail: rollout,
    history: z.array(historyEntry),
    /** The time of the oldest outcome in the history. Absent: there is none, or the caller does not see every namespace. */
    historyFrom: time.optional(),
  })
  .meta({ id: 'Workload' });

export const workloadsQuery = z.strictObject({
  ...pageQuery,
  namespace: namespaceName.optional(),
  kind: workloadKind.optional(),
  /** Part of the name. */
  name: z.string().max(253).optional(),
  /** As `due` or `stale` of a workload; `failed`: as the state of its `lastAttempt`. */
  due: z.enum(['owed', 'correct', 'stale', 'failed']).optional(),
  rollout: z.enum(['progressing', 'complete', 'stuck']).optional(),
});
export const workloadsPage = page(workloadSummary).meta({ id: 'WorkloadsPage' });
export const workloadParams = z.strictObject({
  kind: workloadKind,
  namespace: namespaceName,
  name: objectName,
});

const sourceSummaryShape = {
  ...sourceRef.shape,
  exists: z.boolean(),
  hash: hash.nullable(),
  /** How many workloads a change of its data reloads. */
  workloads: z.number().int(),
  changedAt: time.nullable(),
};
export const sourceSummary = z.strictObject(sourceSummaryShape).meta({ id: 'SourceSummary' });

export const source = z
  .strictObject({
    ...sourceSummaryShape,
    annotations,
    workloadsInDetail: z.array(edge.extend({ workload: workloadRef })),
    history: z.array(historyEntry),
  })
  .meta({ id: 'Source' });

export const sourcesQuery = z.strictObject({
  ...pageQuery,
  namespace: namespaceName.optional(),
  kind: sourceKind.optional(),
  name: z.string().max(253).optional(),
});
export const sourcesPage = page(sourceSummary).meta({ id: 'SourcesPage' });

export const namespacesQuery = z.strictObject({
  ...pageQuery,
  /** Part of the name. */
  name: z.string().max(63).optional(),
});
export const namespacesPage = page(z.strictObject({ name: namespaceName })).meta({ id: 'NamespacesPage' });

export const sourceParams = z.strictObject({ kind: sourceKind, namespace: namespaceName, name: objectName });

export type Workload = z.infer<typeof workload>;
export type WorkloadSummary = z.infer<typeof workloadSummary>;
export type Source = z.infer<typeof source>;
export type SourceSummary = z.infer<typeof sourceSummary>;
export type HistoryEntry = z.infer<typeof historyEntry>;
