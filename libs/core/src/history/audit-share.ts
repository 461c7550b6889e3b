import { createHash } from 'node:crypto';

/** Service accounts of one namespace share: whoever may make one may make many. */
const SERVICE_ACCOUNTS = /^(system:serviceaccount:[^:]+):/u;
/** The part of the audit log that one caller can have. */
const SHARE = 1 / 10;

/** Under what the entries of an actor are counted. */
export function auditShareOf(actor: string): string {
  const whose = SERVICE_ACCOUNTS.exec(actor)?.[1] ?? actor;
  return createHash('sha256').update(whose).digest('base64url');
}

/** The most entries of one caller. */
export function mostAudited(maxEntries: number): number {
  return Math.max(1, Math.floor(maxEntries * SHARE));
}
