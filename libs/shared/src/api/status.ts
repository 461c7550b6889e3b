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
    /** Of a watcher. */
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
    /** Seconds for which the job that is due for longest has waited; null if unknown. */
    lagSeconds: z.number().nullable(),
    /** Null if nobody tells, or the caller does not see every namespace. */
    owed: z.strictObject({ workloads: z.number().int(), oldest: time.nullable() }).nullable(),
    redis: z.strictObject({
      ok: z.boolean(),
      milliseconds: z.number().nullable(),
      /** No room for a history: it is dropped and not written until there is; reloads go on. */
      full: z.boolean().optional(),
      /** Memory that is used, as a part of maxmemory; absent if the server does not tell, or has no limit. */
      usedRatio: z.number().optional(),
    }),
    apiServer: z.strictObject({ ok: z.boolean().nullable(), milliseconds: z.number().nullable() }),
    /** Null while Redis is away, or if the caller does not see every namespace. */
    history: z.strictObject({ changes: z.number().int(), oldest: time.nullable() }).nullable(),
    limits,
    /** What somebody should look at, in sentences. */
    warnings: z.array(z.string()),
    /** What the caller may do, so that nobody is offered what would be refused. */
    caller: z.strictObject({
      name: z.string(),
      clusterWide: z.boolean(),
      mayReload: z.boolean(),
      maySteer: z.boolean(),
    }),
  })
  .meta({ id: 'Status' });
export type Status = z.infer<typeof status>;
