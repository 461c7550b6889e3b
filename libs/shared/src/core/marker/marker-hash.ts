import { createHash } from 'node:crypto';

import type { SourceData, SourceKind } from '../model.ts';

/**
 * The hash that a marker holds for a source that was deleted: the SHA-1 of a fixed text, so that it can
 * never be the hash of data by accident of the data being empty.
 */
export const DELETED_MARKER_HASH = sha1(Buffer.from('__RELOADER_EMPTY_DELETE_MARKER__'));

const ENTRY_SEPARATOR = Buffer.from(';');

/**
 * The hash that a marker holds for a source's data: SHA-1, 40 lower-case hex digits, byte for byte that of
 * stakater/Reloader, so that a workload it marked is not rolled again by us.
 *
 * Each key gives one entry `key=value`; the entries are put in the order of their bytes and joined with `;`.
 * The value is the text (ConfigMap `data`), the base64 (ConfigMap `binaryData`) or the decoded bytes
 * (Secret). For a SecretProviderClass, `data` holds `object id -> version` and
 * `SecretProviderClassName -> name`. Not injective: `{a: '1;b=2'}` and `{a: '1', b: '2'}` are one hash. It
 * guards nothing but the marker; the record's hash decides.
 */
export function markerHash(kind: SourceKind, source: SourceData): string {
  const entries = kind === 'Secret' ? secretEntries(source) : configMapEntries(source);
  return sha1(join(entries.sort((left, right) => Buffer.compare(left, right))));
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

/** The API writes an empty value as `""` or, for some Secrets, as `null`. */
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
