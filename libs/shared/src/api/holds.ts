import { z } from 'zod';
import { PENDING_ID } from '@reroll/core/holds/approval';
import { MOST_FREEZE_REASON } from '@reroll/core/holds/freeze';
import { hash, namespaceName, time, writeReason } from './common.ts';

export const namespaceParams = z.strictObject({ namespace: namespaceName });

export const freezeRequest = z
  .strictObject({
    /** Also shown wherever a reload is held. */
    reason: z.string().trim().min(1).max(MOST_FREEZE_REASON),
    /** When the freeze ends; in the future. Absent: until somebody ends it. */
    until: time.optional(),
  })
  .meta({ id: 'FreezeRequest' });

export const approveRequest = z
  .strictObject({
    reason: writeReason,
    /** Of exactly what is pending, as `hold.id` of the workload tells. */
    id: z
      .string()
      .regex(PENDING_ID, 'expected an id of ten hexadecimal digits')
      .meta({ id: 'PendingId', example: '3f9a0c77d1' }),
  })
  .meta({ id: 'ApproveRequest' });

export const resumeRequest = z
  .strictObject({
    reason: writeReason,
    /** Of the data that is meant, as `hash` of the waves tells; with other data the answer is a `Conflict`. Absent: whatever is there. */
    hash: hash.optional(),
  })
  .meta({ id: 'ResumeRequest' });

export const reloadRequest = z
  .strictObject({
    reason: writeReason,
    /** Whether windows, limits and waves are passed. */
    now: z.boolean().optional(),
    /** Whether freezes are passed, by who has the right to override them. */
    overrideFreeze: z.boolean().optional(),
  })
  .meta({ id: 'ReloadRequest' });
