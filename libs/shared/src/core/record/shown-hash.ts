import { createHmac } from 'node:crypto';
import { isKeyed, type RecordHash } from './record-hash.ts';

/**
 * A hash as it may be shown to somebody who may not read the source. A plain one of a weak password can be guessed, so
 * of anything but a ConfigMap it is replaced by an HMAC under `secret`: equal for equal data, and of no use elsewhere. One
 * that is under a key already, and that of a deletion, stay as they are.
 */
export function shownHash(hash: RecordHash, sourceKind: string, secret: string): string {
  if (sourceKind === 'ConfigMap' || isKeyed(hash)) return hash;
  return `shown.${createHmac('sha256', secret).update(hash).digest('base64url')}`;
}
