import type { SourceKey } from '@reroll/core/model';
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { markerHash, type MarkerHash } from '@reroll/core/marker/marker-hash';
import { hashKey, recordHash, sourceKeys, type HashKeys } from '@reroll/core/record/record-hash';
import type { SourceHashes } from '@reroll/core/state/rows';
import { decodeReading, encodeReading } from './reading-codec.ts';

const SECRET = 'Secret/shop/db';
const data = { data: { password: 'aHVudGVyMg==' } };
const [key, older] = [hashKey(randomBytes(32)), hashKey(randomBytes(32))];
const reading: SourceHashes = {
  rv: '812',
  hash: recordHash(data, sourceKeys(SECRET, [key])),
  markerHash: markerHash('Secret', data),
};

describe('a reading', () => {
  it.each([
    ['without a key', []],
    ['under a key', [key]],
    ['under the first of two', [key, older]],
  ])('%s comes back as it was', (_, keys) => {
    expect(decodeReading(SECRET, encodeReading(SECRET, reading, keys), { hash: 'sha1', keys })).toEqual(
      reading,
    );
  });

  it('under a key that is the first no more comes back too', () => {
    const sealed = encodeReading(SECRET, reading, [older]);
    expect(decodeReading(SECRET, sealed, { hash: 'sha1', keys: [key, older] })).toEqual(reading);
  });

  it('under a key shows none of its hashes, and is another text each time', () => {
    const texts = [0, 1].map(() => encodeReading(SECRET, reading, [key]));
    for (const text of texts) {
      const bytes = Buffer.from(text.slice(text.indexOf('.') + 1), 'base64url').toString('latin1');
      for (const hash of [reading.hash, reading.markerHash]) {
        expect(text).not.toContain(hash);
        expect(bytes).not.toContain(hash);
      }
    }
    expect(texts[0]).not.toBe(texts[1]);
  });
});

describe('nothing is read', () => {
  const sealed = encodeReading(SECRET, reading, [key]);
  const plain = encodeReading(SECRET, reading, []);
  const changed = sealed.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));

  it.each<[string, SourceKey, string, HashKeys]>([
    ['under a key, of one that is sealed for another source', 'Secret/shop/other', sealed, [key]],
    ['under a key, of one that is sealed by another', SECRET, sealed, [older]],
    ['under a key, of one that was changed', SECRET, changed, [key]],
    ['under a key, of one that is cut short', SECRET, sealed.slice(0, 20), [key]],
    ['under a key, of one that is plain', SECRET, plain, [key]],
    ['without a key, of one that is sealed', SECRET, sealed, []],
    ['of no JSON', SECRET, 'x', []],
    ['of null', SECRET, 'null', []],
    ['of a resourceVersion that is none', SECRET, JSON.stringify({ ...reading, rv: 'x' }), []],
    ['of a hash that is none', SECRET, JSON.stringify({ ...reading, hash: '1.x' }), []],
    [
      'of any text as the hash of a marker',
      SECRET,
      JSON.stringify({ ...reading, markerHash: '$(HOME)' }),
      [],
    ],
  ])('%s', (_, source, text, keys) => {
    expect(decodeReading(source, text, { hash: 'sha1', keys })).toBeUndefined();
  });

  it.each<[string, MarkerHash, MarkerHash, HashKeys]>([
    ['of another scheme', 'sha1', 'sha256', [key]],
    ['of another scheme, by default', 'sha1', 'auto', [key]],
    ['without a key where there is to be one', 'sha256', 'hmac-sha256', [key]],
    ['under a key that is the first no more', 'hmac-sha256', 'hmac-sha256', [older, key]],
  ])("of a marker's hash %s", (_, made, hash, keys) => {
    const own = sourceKeys(SECRET, [key]);
    const marked = { ...reading, markerHash: markerHash('Secret', data, { hash: made, keys: own }) };
    const text = encodeReading(SECRET, marked, [key]);
    expect(decodeReading(SECRET, text, { hash: made, keys: [key] })).toEqual(marked);
    expect(decodeReading(SECRET, text, { hash, keys })).toBeUndefined();
  });
});
