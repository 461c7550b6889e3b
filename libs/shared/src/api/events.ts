import { z } from 'zod';
import { auditEntry } from './audit.ts';
import { changeSummary } from './changes.ts';
import { namespaceName, time, workloadRef } from './common.ts';
import { rollout } from './rollout.ts';
import { historyEntry } from './workloads.ts';

export const eventsQuery = z.strictObject({ namespace: namespaceName.optional() });

/** The server-sent events by name. `reset`: entries since `Last-Event-ID` are gone; read the lists again. */
export const EVENTS = {
  change: changeSummary,
  outcome: historyEntry,
  rollout: z.strictObject({ workload: workloadRef, at: time, rollout }).meta({ id: 'RolloutEvent' }),
  audit: auditEntry,
  reset: z.strictObject({ reason: z.string() }).meta({ id: 'ResetEvent' }),
} as const;
export type EventName = keyof typeof EVENTS;
