import { jsonFields } from '@reroll/core/json';
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import { hasScheme, isMarkerHash, type MarkerScheme } from '@reroll/core/marker/marker-hash';
import { kindOf, type SourceKey } from '@reroll/core/model';
import { isRecordHash, type HashKey, type HashKeys } from '@reroll/core/record/record-hash';
import { isRv } from '@reroll/core/rv';
import type { SourceHashes } from '@reroll/core/state/rows';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Encodes a reading for Redis. With a key it is `k<id>.<base64url of nonce, tag and ciphertext>`, sealed for this source by
 * AES-256-GCM with a key derived from the hash key. The marker's hash may be a plain SHA-1 of a Secret, so readers of Redis must
 * not see it, and it goes into pod templates, so writers of Redis must not choose it. Without a key it is plain JSON.
 */
export function encodeReading(source: SourceKey, reading: SourceHashes, keys: HashKeys): string {
  const text = JSON.stringify(reading);
  const [key] = keys;
  return key ? seal(text, source, key) : text;
}

/**
 * Returns undefined if the text is no reading, if no known key sealed it, or if its marker's hash is not of the scheme of the markers that
 * this process writes; the caller then reads the source.
 */
export function decodeReading(
  source: SourceKey,
  text: string,
  scheme: MarkerScheme<HashKey>,
): SourceHashes | undefined {
  const opened = scheme.keys.length === 0 ? text : open(text, source, scheme.keys);
  const reading = opened === undefined ? undefined : parse(opened);
  return reading && hasScheme(reading.markerHash, kindOf(source), scheme) ? reading : undefined;
}

function seal(text: string, source: SourceKey, key: HashKey): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, sealingKey(key), nonce).setAAD(Buffer.from(source));
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return `k${key.id}.${Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url')}`;
}

function open(text: string, source: SourceKey, keys: HashKeys): string | undefined {
  const key = keys.find(({ id }) => text.startsWith(`k${id}.`));
  if (!key) return undefined;
  const bytes = Buffer.from(text.slice(text.indexOf('.') + 1), 'base64url');
  const start = NONCE_BYTES + TAG_BYTES;
  if (bytes.length < start) return undefined;
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const cipher = createDecipheriv(CIPHER, sealingKey(key), nonce, { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(source))
    .setAuthTag(bytes.subarray(NONCE_BYTES, start));
  try {
    return Buffer.concat([cipher.update(bytes.subarray(start)), cipher.final()]).toString();
  } catch {
    return undefined;
  }
}

function sealingKey(key: HashKey): Buffer {
  return createHmac('sha256', key.secret).update('reroll readings').digest();
}

function parse(text: string): SourceHashes | undefined {
  const { rv, hash, markerHash } = jsonFields(text);
  return isRv(rv) && isRecordHash(hash) && isMarkerHash(markerHash) ? { rv, hash, markerHash } : undefined;
}
