import { z } from 'zod';
import { time } from './common.ts';
import { page, pageQuery } from './page.ts';

export const auditEntry = z
  .strictObject({
    id: z.string(),
    at: time,
    actor: z.string(),
    /** The operation's id, e.g. `reloadWorkload`. */
    action: z.string(),
    target: z.string(),
    reason: z.string(),
    /** `done`, or the code of the returned problem. */
    result: z.string(),
    requestId: z.string(),
  })
  .meta({ id: 'AuditEntry' });
export const auditQuery = z.strictObject({
  ...pageQuery,
  actor: z.string().max(253).optional(),
  since: time.optional(),
});
export const auditPage = page(auditEntry).meta({ id: 'AuditPage' });

/** The response of a write. `id` is that of the change that a manual reload became, else of the audit entry. */
export const accepted = z.strictObject({ id: z.string(), at: time }).meta({ id: 'Accepted' });
export type AuditEntry = z.infer<typeof auditEntry>;
