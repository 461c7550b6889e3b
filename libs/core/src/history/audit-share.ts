import { createHash } from 'node:crypto';

/** The service accounts of a namespace share one limit, because whoever may create one may create many. */
const SERVICE_ACCOUNTS = /^(system:serviceaccount:[^:]+):/u;

/** Returns the name under which an actor's entries are counted. */
export function auditShareOf(actor: string): string {
  const whose = SERVICE_ACCOUNTS.exec(actor)?.[1] ?? actor;
  return createHash('sha256').update(whose).digest('base64url');
}
