import { createHash, createHmac } from 'node:crypto';
import type { SourceData, SourceKey } from '../model.ts';

/**
 * Hash of a source's data as the record keeps it: `<scheme>.<base64url of 32 bytes>`. Scheme `1` is SHA-256 over a canonical,
 * length-prefixed form. `k<id>` is HMAC-SHA-256 over the same form with a key that is derived from the key of that id for this
 * source. So a reader of the record cannot try guesses of a weak secret, not even in sources of their own, which have other hashes
 * for the same data. Two versions of a source have the same hash only if they hold the same keys and bytes: unlike the marker's
 * form, this one is injective.
 */
export type RecordHash = string;

/** A key for record hashes. `id` is derived from the secret and identifies the key without revealing it. */
export interface HashKey {
  readonly id: string;
  readonly secret: Uint8Array;
}

/** The current key first, then earlier keys that records may still use. Empty: plain SHA-256. */
export type HashKeys = readonly HashKey[];

/** A key for the hashes of one source. `id` is that of the key that it is derived from. */
export interface SourceHashKey {
  readonly id: string;
  readonly sourceSecret: Uint8Array;
}

/** In the order of the `HashKeys`. */
export type SourceHashKeys = readonly SourceHashKey[];

const PLAIN = '1';

/** Recorded for a source that was deleted. No data has this hash; its scheme is `0`. */
export const DELETED_HASH: RecordHash = '0.deleted';

export function hashKey(secret: Uint8Array): HashKey {
  const id = createHmac('sha256', secret).update('reroll source key id').digest('hex').slice(0, 8);
  return { id, secret };
}

export function sourceKeys(source: SourceKey, keys: HashKeys): SourceHashKeys {
  return keys.map(({ id, secret }) => ({
    id,
    sourceSecret: createHmac('sha256', secret).update(`reroll source ${source}`).digest(),
  }));
}

/** Whether the text has the form of a hash of data, under any scheme. */
export function isRecordHash(text: unknown): text is RecordHash {
  return typeof text === 'string' && /^(?:1|k[0-9a-f]{8})\.[A-Za-z0-9_-]{43}$/.test(text);
}

/** Returns the hash under the current scheme. */
export function recordHash(data: SourceData, [key]: SourceHashKeys): RecordHash {
  return digest(canonical(data), key && { id: key.id, secret: key.sourceSecret });
}

/** Returns the hash of a text under the current scheme, in the form of a record hash. It is no record hash of any data. */
export function textHash(text: string, keys: HashKeys): string {
  return digest([Buffer.from(`t${text}`)], keys[0]);
}

/** Whether `recorded` is the hash of `data`, under the scheme that `recorded` names. False if the scheme or key is not known. */
export function isHashOf(recorded: RecordHash, data: SourceData, keys: SourceHashKeys): boolean {
  const scheme = schemeOf(recorded);
  if (scheme === PLAIN) return recordHash(data, []) === recorded;
  const key = keys.find(({ id }) => scheme === `k${id}`);
  return key !== undefined && recordHash(data, [key]) === recorded;
}

/** Whether these keys suffice to compare `recorded` with data. */
export function isKeyKnown(recorded: RecordHash, keys: readonly Pick<HashKey, 'id'>[]): boolean {
  const scheme = schemeOf(recorded);
  return !scheme.startsWith('k') || keys.some(({ id }) => scheme === `k${id}`);
}

/** Whether two hashes have the same scheme. Only then do different hashes mean different data. */
export function isSameScheme(a: RecordHash, b: RecordHash): boolean {
  return schemeOf(a) === schemeOf(b);
}

/** '' if the text is not a record hash. */
function schemeOf(hash: RecordHash): string {
  return hash.slice(0, Math.max(0, hash.indexOf('.')));
}

function digest(parts: readonly Buffer[], key: HashKey | undefined): RecordHash {
  const hash = key ? createHmac('sha256', key.secret) : createHash('sha256');
  for (const part of parts) hash.update(part);
  return [key ? `k${key.id}` : PLAIN, hash.digest('base64url')].join('.');
}

/**
 * The entries of each section are sorted by the bytes of their keys; every key and value is preceded by its length. A value that the
 * API writes as `null` is empty.
 */
function canonical(data: SourceData): Buffer[] {
  return [...section('d', data.data), ...section('b', data.binaryData)];
}

function section(tag: string, entries: Readonly<Record<string, string | null>> | undefined): Buffer[] {
  const pairs = Object.entries(entries ?? {}).map(
    ([key, value]) => [Buffer.from(key), Buffer.from(value ?? '')] as const,
  );
  pairs.sort(([a], [b]) => Buffer.compare(a, b));
  const head = Buffer.from(`${tag}${pairs.length};`);
  return [
    head,
    ...pairs.flatMap(([key, value]) => [Buffer.from(`${key.length}:${value.length};`), key, value]),
  ];
}
