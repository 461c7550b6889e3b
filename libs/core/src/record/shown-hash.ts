import { createHmac } from 'node:crypto';
import { kindOf, type SourceKey } from '../model.ts';
import { DELETED_HASH, type RecordHash } from './record-hash.ts';

/**
 * A hash as it may be shown to somebody who may not read the source. Of a weak password a plain one can be guessed, and
 * one under the install's key can be compared with those of guesses in Secrets of one's own. So of anything but a ConfigMap it
 * is replaced by an HMAC under `secret` over source and hash: equal for equal hashes of one source, and of no use
 * elsewhere. That of a deletion stays as it is.
 */
export function shownHash(source: SourceKey, hash: RecordHash, secret: string): string {
  if (kindOf(source) === 'ConfigMap' || hash === DELETED_HASH) return hash;
  return `shown.${createHmac('sha256', secret).update(`${source}\0${hash}`).digest('base64url')}`;
}
