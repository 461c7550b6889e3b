import { z } from 'zod';
import { time } from './common.ts';
import { limits } from './queues.ts';

export const processStatus = z
  .strictObject({
    app: z.enum(['watcher', 'worker', 'admin']),
    name: z.string(),
    version: z.string(),
    startedAt: time,
    seenAt: time,
    /** Set for watchers. */
    role: z.enum(['leader', 'standby']).nullable(),
    synced: z.boolean().nullable(),
    concurrency: z.number().int().nullable(),
  })
  .meta({ id: 'ProcessStatus' });

export const status = z
  .strictObject({
    version: z.string(),
    cluster: z.string(),
    leader: z.string().nullable(),
    processes: z.array(processStatus),
    /** Seconds for which the job that has been due longest has waited; null if unknown. */
    lagSeconds: z.number().nullable(),
    /** Null if no watcher reports it, or the caller does not see every namespace. */
    owed: z.strictObject({ workloads: z.number().int(), oldest: time.nullable() }).nullable(),
    redis: z.strictObject({
      ok: z.boolean(),
      milliseconds: z.number().nullable(),
      /** Redis is full: the history is dropped, and not written until there is room. Reloads continue. */
      full: z.boolean().optional(),
      /** Used memory as a fraction of maxmemory; absent if the server does not report it or has no limit. */
      usedRatio: z.number().optional(),
    }),
    apiServer: z.strictObject({ ok: z.boolean().nullable(), milliseconds: z.number().nullable() }),
    /** Why the whole installation is frozen. Null: it is not. Absent: unknown to the admin. */
    frozen: z.string().nullable().optional(),
    /** Null while Redis is unreachable, or if the caller does not see every namespace. */
    history: z.strictObject({ changes: z.number().int(), oldest: time.nullable() }).nullable(),
    limits,
    /** What needs attention, in sentences. */
    warnings: z.array(z.string()),
    /** What the caller may do, so that clients offer nothing else. */
    caller: z.strictObject({
      name: z.string(),
      clusterWide: z.boolean(),
      mayReload: z.boolean(),
      /** Whether tokens of this kind can freeze and approve. The cluster decides for each workload and namespace. */
      mayHold: z.boolean(),
      maySteer: z.boolean(),
    }),
  })
  .meta({ id: 'Status' });
export type Status = z.infer<typeof status>;
