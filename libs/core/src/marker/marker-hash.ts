import { createHash, createHmac } from 'node:crypto';

import type { SourceData, SourceKind } from '../model.ts';
import type { HashKey, SourceHashKey, SourceHashKeys } from '../record/record-hash.ts';

/**
 * The algorithm of a marker's hash. `sha1` is stakater/Reloader's; `auto` is `hmac-sha256` for Secrets if there is a key, and
 * `sha1` otherwise.
 */
export const MARKER_HASHES = ['auto', 'sha1', 'sha256', 'hmac-sha256'] as const;
export type MarkerHash = (typeof MARKER_HASHES)[number];

/** `SourceHashKey`s make the hash of a marker. To tell its scheme, the ids of the keys suffice. */
export interface MarkerScheme<Key = SourceHashKey> {
  readonly hash: MarkerHash;
  /** `hmac-sha256`, which requires one, and `auto` use the first. */
  readonly keys: readonly Key[];
}

type KeyId = Pick<HashKey, 'id'>;

const SHA1_DIGITS = 40;
const INCUMBENTS: MarkerScheme = { hash: 'sha1', keys: [] };

/** The marker's hash for a deleted source: the SHA-1 of a fixed text, so that it never equals the hash of empty data. */
export const DELETED_MARKER_HASH = sha1(Buffer.from('__RELOADER_EMPTY_DELETE_MARKER__'));

const ENTRY_SEPARATOR = Buffer.from(';');

/**
 * Returns the marker's hash of a source's data. Default: SHA-1, 40 lower-case hex digits, identical to stakater/Reloader's, so that
 * a workload that it marked is not reloaded again. `sha256` has 64 digits over the same text; `hmac-sha256` is `k<id of the
 * key>.<64 digits>`; `auto` chooses by kind. Throws a `RangeError` if the key is missing.
 *
 * Each key gives one entry `key=value`; the entries are sorted by their bytes and joined with `;`. The value is the text (ConfigMap
 * `data`), the base64 (ConfigMap `binaryData`) or the decoded bytes (Secret). For a SecretProviderClass, `data` holds `object id ->
 * version` and `SecretProviderClassName -> name`. Not injective: `{a: '1;b=2'}` and `{a: '1', b: '2'}` have the same hash. It
 * protects only the marker; the record's hash decides.
 */
export function markerHash(kind: SourceKind, source: SourceData, scheme = INCUMBENTS): string {
  const text = textOf(kind, source);
  const algorithm = algorithmOf(kind, scheme);
  if (algorithm === 'sha1') return sha1(text);
  if (algorithm === 'sha256') return sha256(text);
  const [key] = scheme.keys;
  if (!key) throw new RangeError('expected a key for hmac-sha256');
  return keyed(text, key);
}

/** Whether a marker's hash has the form that the scheme gives to a source of this kind, with the same key. */
export function hasScheme(marked: string, kind: SourceKind, scheme: MarkerScheme<KeyId>): boolean {
  const algorithm = algorithmOf(kind, scheme);
  if (algorithm === 'hmac-sha256') return marked.startsWith(`k${scheme.keys[0]?.id}.`);
  return !marked.startsWith('k') && (marked.length === SHA1_DIGITS) === (algorithm === 'sha1');
}

function algorithmOf(kind: SourceKind, { hash, keys }: MarkerScheme<KeyId>): Exclude<MarkerHash, 'auto'> {
  if (hash !== 'auto') return hash;
  return kind === 'Secret' && keys.length > 0 ? 'hmac-sha256' : 'sha1';
}

/** Whether the text has the form of a marker's hash, under any scheme. */
export function isMarkerHash(text: unknown): text is string {
  return typeof text === 'string' && /^(?:[0-9a-f]{40}|(?:k[0-9a-f]{8}\.)?[0-9a-f]{64})$/.test(text);
}

/** Whether a marker's hash is that of the data, under any scheme and any of these keys. */
export function isMarkerHashOf(
  marked: string,
  source: { readonly kind: SourceKind; readonly data: SourceData },
  keys: SourceHashKeys,
): boolean {
  const text = textOf(source.kind, source.data);
  return [sha1(text), sha256(text), ...keys.map((key) => keyed(text, key))].includes(marked);
}

function textOf(kind: SourceKind, source: SourceData): Buffer {
  const entries = kind === 'Secret' ? secretEntries(source) : configMapEntries(source);
  return join(entries.sort((left, right) => Buffer.compare(left, right)));
}

/** Differs from the record's hash under the same key, so that neither can be taken for the other. */
function keyed(text: Buffer, { id, sourceSecret }: SourceHashKey): string {
  return `k${id}.${createHmac('sha256', sourceSecret).update('marker;').update(text).digest('hex')}`;
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function configMapEntries({ data, binaryData }: SourceData): Buffer[] {
  const text = valuesOf(data).map(([key, value]) => entry(key, Buffer.from(value)));
  const binary = valuesOf(binaryData).map(([key, value]) =>
    entry(key, Buffer.from(decodeBase64(value).toString('base64'))),
  );
  return [...text, ...binary];
}

function secretEntries({ data }: SourceData): Buffer[] {
  return valuesOf(data).map(([key, value]) => entry(key, decodeBase64(value)));
}

/** The API writes an empty value as `""` or, in some Secrets, as `null`. */
function valuesOf(values: Readonly<Record<string, string | null>> | null | undefined): [string, string][] {
  return Object.entries(values ?? {}).map(([key, value]) => [key, value ?? '']);
}

function entry(key: string, value: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${key}=`), value]);
}

function join(entries: readonly Buffer[]): Buffer {
  return Buffer.concat(entries.flatMap((each, index) => (index === 0 ? [each] : [ENTRY_SEPARATOR, each])));
}

function decodeBase64(value: string): Buffer {
  return Buffer.from(value, 'base64');
}

function sha1(bytes: Buffer): string {
  return createHash('sha1').update(bytes).digest('hex');
}
