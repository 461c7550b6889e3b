import { createHash } from 'node:crypto';

import { array, assert, constantFrom, dictionary, property, string, uint8Array } from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { SourceData, SourceKind } from '../model.ts';
import { hashKey, sourceKeys, type SourceHashKey, type SourceHashKeys } from '../record/record-hash.ts';
import {
  DELETED_MARKER_HASH,
  MARKER_HASHES,
  hasScheme,
  isMarkerHash,
  isMarkerHashOf,
  markerHash,
  type MarkerHash,
} from './marker-hash.ts';

function sha1(content: string | Buffer): string {
  return createHash('sha1').update(content).digest('hex');
}

const base64 = (bytes: readonly number[]): string => Buffer.from(bytes).toString('base64');

describe('the hash in a marker', () => {
  const cases: Record<string, readonly [SourceKind, SourceData, string]> = {
    'without data it is that of the empty text': [
      'ConfigMap',
      {},
      'da39a3ee5e6b4b0d3255bfef95601890afd80709',
    ],
    'a Secret without data has the same': [
      'Secret',
      { data: {} },
      'da39a3ee5e6b4b0d3255bfef95601890afd80709',
    ],
    'text of a ConfigMap is key=value': ['ConfigMap', { data: { a: '1' } }, sha1('a=1')],
    'entries are sorted and joined with ;': ['ConfigMap', { data: { b: '2', a: '1' } }, sha1('a=1;b=2')],
    'binary data of a ConfigMap is key=base64': ['ConfigMap', { binaryData: { k: 'AAE=' } }, sha1('k=AAE=')],
    'base64 is hashed in its one standard form': [
      'ConfigMap',
      { binaryData: { k: 'AA\nE' } },
      sha1('k=AAE='),
    ],
    'text and binary data are sorted together': [
      'ConfigMap',
      { data: { a: '1', c: '3' }, binaryData: { b: 'AAE=' } },
      sha1('a=1;b=AAE=;c=3'),
    ],
    'a Secret is hashed by its decoded bytes': ['Secret', { data: { k: 'djE=' } }, sha1('k=v1')],
    'bytes that are no text are hashed as they are': [
      'Secret',
      { data: { k: base64([0xff, 0x00, 0xfe]) } },
      sha1(Buffer.from([0x6b, 0x3d, 0xff, 0x00, 0xfe])),
    ],
    'entries are sorted whole, so = counts: a-b before a': [
      'ConfigMap',
      { data: { a: '1', 'a-b': '2' } },
      sha1('a-b=2;a=1'),
    ],
    'the order is that of bytes, not of UTF-16 units': [
      'ConfigMap',
      { data: { k: '\u{1f600}' }, binaryData: {} },
      sha1('k=\u{1f600}'),
    ],
    'an astral character sorts after a private one, as bytes do': [
      'ConfigMap',
      { data: { '\u{1f600}': '', '\uffee': '' } },
      sha1('\uffee=;\u{1f600}='),
    ],
    'bytes of a Secret sort as bytes': [
      'Secret',
      { data: { a: base64([0x80]), b: base64([0xff]) } },
      sha1(Buffer.from([0x61, 0x3d, 0x80, 0x3b, 0x62, 0x3d, 0xff])),
    ],
    'an empty value is an entry': ['ConfigMap', { data: { a: '' } }, sha1('a=')],
    'a Secret has no binaryData': ['Secret', { data: {}, binaryData: { a: 'AAE=' } }, sha1('')],
    'of a SecretProviderClass it is over ids, versions and its name': [
      'SecretProviderClass',
      { data: { 'secret/b': 'v2', 'secret/a': 'v1', SecretProviderClassName: 'vault' } },
      sha1('SecretProviderClassName=vault;secret/a=v1;secret/b=v2'),
    ],
  };

  it.each(Object.entries(cases))('%s', (_, [kind, data, expected]) => {
    expect(markerHash(kind, data)).toBe(expected);
  });

  it('is 40 hex digits in lower case', () => {
    expect(markerHash('ConfigMap', { data: { a: '1' } })).toMatch(/^[0-9a-f]{40}$/);
  });

  it('takes a value that the API serves as null for an empty one', () => {
    const data = { a: null } as unknown as Record<string, string>;
    expect(markerHash('Secret', { data })).toBe(markerHash('Secret', { data: { a: '' } }));
  });

  it('is that of the data alone: labels, annotations, type and immutable do not count', () => {
    const data = { a: 'MQ==' };
    const whole = {
      data,
      type: 'Opaque',
      immutable: true,
      metadata: { labels: { x: 'y' }, annotations: {} },
    };
    expect(markerHash('Secret', whole)).toBe(markerHash('Secret', { data }));
  });

  it('is not injective: a value may hold what looks like another entry', () => {
    const one = markerHash('ConfigMap', { data: { a: '1;b=2' } });
    expect(one).toBe(markerHash('ConfigMap', { data: { a: '1', b: '2' } }));
  });

  it('is not injective: text may be the base64 of binary data', () => {
    const text = markerHash('ConfigMap', { data: { k: 'AAE=' } });
    expect(text).toBe(markerHash('ConfigMap', { binaryData: { k: base64([0, 1]) } }));
  });

  it('of a deleted source is that of a fixed text', () => {
    expect(DELETED_MARKER_HASH).toBe('aae45badef99284e4dae01d6046154ea9d99532f');
  });

  const key = string({ unit: constantFrom('a', 'b', '.', '-', '_', '0', 'Z'), minLength: 1, maxLength: 4 });

  it('does not depend on the order of keys', () => {
    assert(
      property(
        dictionary(key, string()),
        constantFrom('ConfigMap' as const, 'SecretProviderClass' as const),
        (data, kind) => {
          const reversed = Object.fromEntries(Object.entries(data).reverse());
          expect(markerHash(kind, { data: reversed })).toBe(markerHash(kind, { data }));
        },
      ),
    );
  });

  it('of a Secret is the one that is computed over bytes', () => {
    assert(
      property(array(uint8Array(), { maxLength: 5 }), (values) => {
        const data = Object.fromEntries(
          values.map((bytes, index) => [`k${index}`, Buffer.from(bytes).toString('base64')]),
        );
        const entries = values.map((bytes, index) => Buffer.concat([Buffer.from(`k${index}=`), bytes]));
        const joined = entries.flatMap((entry, index) => (index > 0 ? [Buffer.from(';'), entry] : [entry]));
        expect(markerHash('Secret', { data })).toBe(sha1(Buffer.concat(joined)));
      }),
    );
  });
});

describe('another hash in a marker', () => {
  const secrets = [
    hashKey(Buffer.from('the key of the specs')),
    hashKey(Buffer.from('an older key of the specs')),
  ];
  const [key, older] = sourceKeys('Secret/ns/db', secrets) as [SourceHashKey, SourceHashKey];
  const data = { data: { b: '2', a: '1' } };

  it('is SHA-256 over the same text', () => {
    const expected = createHash('sha256').update('a=1;b=2').digest('hex');
    expect(markerHash('ConfigMap', data, { hash: 'sha256', keys: [] })).toBe(expected);
  });

  it('names its key, which is the first', () => {
    const text = markerHash('ConfigMap', data, { hash: 'hmac-sha256', keys: [key, older] });
    expect(text).toMatch(new RegExp(`^k${key.id}\\.[0-9a-f]{64}$`));
    expect(markerHash('ConfigMap', data, { hash: 'hmac-sha256', keys: [older] })).not.toBe(text);
  });

  it('needs a key for hmac-sha256', () => {
    expect(() => markerHash('ConfigMap', data, { hash: 'hmac-sha256', keys: [] })).toThrow('expected a key');
  });

  it.each<[string, SourceKind, SourceHashKeys, MarkerHash]>([
    ['of a Secret, under the first key if there is one', 'Secret', [key, older], 'hmac-sha256'],
    ['of a Secret, stakater/Reloader’s without a key', 'Secret', [], 'sha1'],
    ['of a ConfigMap, stakater/Reloader’s with a key', 'ConfigMap', [key, older], 'sha1'],
    ['of a ConfigMap, stakater/Reloader’s without a key', 'ConfigMap', [], 'sha1'],
  ])('is chosen by auto: %s', (_sentence, kind, keys, expected) => {
    expect(markerHash(kind, data, { hash: 'auto', keys })).toBe(
      markerHash(kind, data, { hash: expected, keys }),
    );
  });

  it.each(
    MARKER_HASHES.flatMap((hash) => (['ConfigMap', 'Secret'] as const).map((kind) => [hash, kind] as const)),
  )('is recognized as that of the data, and of no other: %s of a %s', (hash, kind) => {
    const text = markerHash(kind, data, { hash, keys: [older] });
    expect(isMarkerHashOf(text, { kind, data }, [key, older])).toBe(true);
    expect(isMarkerHashOf(text, { kind, data: { data: { a: '1' } } }, [key, older])).toBe(false);
  });

  it('is another one for the same data of another source', () => {
    const scheme = { hash: 'hmac-sha256', keys: sourceKeys('Secret/mine/db', secrets) } as const;
    expect(markerHash('Secret', data, scheme)).not.toBe(
      markerHash('Secret', data, { ...scheme, keys: [key] }),
    );
  });

  it('is not recognized under a key that is not known', () => {
    const text = markerHash('ConfigMap', data, { hash: 'hmac-sha256', keys: [older] });
    expect(isMarkerHashOf(text, { kind: 'ConfigMap', data }, [key])).toBe(false);
  });
});

describe('the form of a hash in a marker', () => {
  const sha256 = '0123456789abcdef'.repeat(4);

  it.each([sha256.slice(0, 40), sha256, `k89abcdef.${sha256}`])('has %j', (text) => {
    expect(isMarkerHash(text)).toBe(true);
  });

  it.each([
    undefined,
    null,
    7,
    [sha256],
    '',
    'hunter2',
    sha256.slice(1),
    `${sha256}0`,
    `0${sha256}`,
    `x${sha256.slice(0, 40)}`,
    `${sha256.slice(0, 40)}x`,
    sha256.replace('a', 'g'),
    sha256.replace('a', 'A'),
    sha256.slice(0, 40).replace('a', 'g'),
    `k9.${sha256}`,
    `kghijklmn.${sha256}`,
    `k89abcdef.${sha256.slice(0, 40)}`,
    `k89abcdef.g${sha256.slice(1)}`,
  ])('has not %j', (text) => {
    expect(isMarkerHash(text)).toBe(false);
  });
});

it.each(['ConfigMap', 'Secret'] as const)(
  'a hash of a %s has the scheme that made it, and no other',
  (kind) => {
    const data = { data: { k: 'djE=' } };
    for (const keys of [[], sourceKeys('Secret/ns/db', [hashKey(Buffer.from('a key'))])])
      for (const made of MARKER_HASHES.filter((hash) => hash !== 'hmac-sha256' || keys.length > 0))
        for (const asked of MARKER_HASHES) {
          const marked = markerHash(kind, data, { hash: made, keys });
          const resolved = (hash: MarkerHash): string =>
            hash !== 'auto' ? hash : kind === 'Secret' && keys.length > 0 ? 'hmac-sha256' : 'sha1';
          expect(hasScheme(marked, kind, { hash: asked, keys })).toBe(resolved(made) === resolved(asked));
        }
  },
);
