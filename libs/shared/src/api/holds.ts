import { z } from 'zod';
import { PENDING_ID } from '@reroll/core/holds/approval';
import { MOST_FREEZE_REASON } from '@reroll/core/holds/freeze';
import { hash, namespaceName, time, writeReason } from './common.ts';

export const namespaceParams = z.strictObject({ namespace: namespaceName });

export const freezeRequest = z
  .strictObject({
    /** Shown wherever a reload is held. */
    reason: z.string().trim().min(1).max(MOST_FREEZE_REASON),
    /** End of the freeze, in the future. Absent: until a user ends it. */
    until: time.optional(),
  })
  .meta({ id: 'FreezeRequest' });

export const approveRequest = z
  .strictObject({
    reason: writeReason,
    /** Id of exactly what is pending: `hold.id` of the workload. */
    id: z
      .string()
      .regex(PENDING_ID, 'expected an id of ten hexadecimal digits')
      .meta({ id: 'PendingId', example: '3f9a0c77d1' }),
  })
  .meta({ id: 'ApproveRequest' });

export const resumeRequest = z
  .strictObject({
    reason: writeReason,
    /** `hash` of the waves; if the data has changed since, the response is `Conflict`. Absent: any data. */
    hash: hash.optional(),
  })
  .meta({ id: 'ResumeRequest' });

export const reloadRequest = z
  .strictObject({
    reason: writeReason,
    /** Whether to ignore windows, limits and waves. */
    now: z.boolean().optional(),
    /** Whether to ignore freezes; requires the right to override them, in all namespaces for one of the installation. */
    overrideFreeze: z.boolean().optional(),
  })
  .meta({ id: 'ReloadRequest' });
