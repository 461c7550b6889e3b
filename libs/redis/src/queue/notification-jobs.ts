import { z } from 'zod';
import type { ChangeEvent } from '@reroll/core/notify/message';
import type { SourceKey, WorkloadKey } from '@reroll/core/model';
import { SOURCE_KEY, WORKLOAD_KEY } from '../key-schemas.ts';

/**
 * A notification to send. It holds keys only: the worker that sends it knows receiver and text, so Redis never holds a URL.
 * - `alert`: a workload was reloaded for a source.
 * - `alerts`: workloads were reloaded for a source; they are stored beside the job until it is sent.
 * - `webhook`: a source changed.
 */
export const notificationJob = z.discriminatedUnion('type', [
  z.strictObject({ v: z.literal(1), type: z.literal('alert'), source: SOURCE_KEY, workload: WORKLOAD_KEY }),
  z.strictObject({ v: z.literal(1), type: z.literal('alerts'), source: SOURCE_KEY }),
  z.strictObject({
    v: z.literal(1),
    type: z.literal('webhook'),
    source: SOURCE_KEY,
    event: z.enum(['create', 'update', 'delete']),
  }),
]);

export type NotificationJob = z.infer<typeof notificationJob>;

export function alertJobOf(source: SourceKey, workload: WorkloadKey): NotificationJob {
  return { v: 1, type: 'alert', source, workload };
}

export function alertsJobOf(source: SourceKey): NotificationJob {
  return { v: 1, type: 'alerts', source };
}

export function webhookJobOf(source: SourceKey, event: ChangeEvent): NotificationJob {
  return { v: 1, type: 'webhook', source, event };
}
