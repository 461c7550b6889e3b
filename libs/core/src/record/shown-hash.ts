import { createHmac } from 'node:crypto';
import { kindOf, type SourceKey } from '../model.ts';
import { DELETED_HASH, type RecordHash } from './record-hash.ts';

/**
 * Returns a hash for readers who may not read the source. A plain hash of a weak password can be guessed, so the hash of anything
 * but a ConfigMap is replaced by an HMAC with `secret` over source and hash: equal hashes of one source stay equal, and nothing else
 * can be compared. The hash of a deletion stays as it is.
 */
export function shownHash(source: SourceKey, hash: RecordHash, secret: string): string {
  if (kindOf(source) === 'ConfigMap' || hash === DELETED_HASH) return hash;
  return `shown.${createHmac('sha256', secret).update(`${source}\0${hash}`).digest('base64url')}`;
}
