import { describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import { hashKey, recordHash, sourceKeys } from './record-hash.ts';
import {
  isRecordInBounds,
  MOST_RECORD_BYTES,
  MOST_RECORDED,
  readRecord,
  recordedHashes,
  recordedTemplate,
  writeRecord,
} from './record.ts';

function recordOfNames(count: number, hash: string): string {
  const names = Array.from({ length: count }, (_, n) => `Secret/${n.toString(36)}`);
  return writeRecord(Object.fromEntries(names.map((name) => [name, hash])));
}

describe('the record', () => {
  it('is compact, versioned, and sorted by source', () => {
    const text = writeRecord({ 'Secret/b': '1.x', 'ConfigMap/a': '1.y' });
    expect(text).toBe('{"v":1,"s":{"ConfigMap/a":"1.y","Secret/b":"1.x"}}');
  });

  it('reads what it wrote', () => {
    const hashes = fc.dictionary(
      fc.string().filter((key) => key !== '__proto__'),
      fc.string(),
    );
    fc.assert(
      fc.property(hashes, (some) => {
        expect(recordedHashes(writeRecord(some))).toEqual({ ...some });
      }),
    );
  });

  it('names the object by whose pod template it was decided, if that is another one', () => {
    const text = writeRecord({ 'ConfigMap/a': '1.y' }, { uid: 'u-1', generation: 7 });
    expect(text).toBe('{"v":1,"s":{"ConfigMap/a":"1.y"},"t":"u-1/7"}');
    expect(recordedHashes(text)).toEqual({ 'ConfigMap/a': '1.y' });
    expect(recordedTemplate(text)).toEqual({ uid: 'u-1', generation: 7 });
  });

  it.each(['{"v":1,"s":{}}', '{"v":1,"s":{},"t":7}', '{"v":1,"s":{},"t":"u-1"}', '', undefined])(
    'that %j names no such object',
    (text) => {
      expect(recordedTemplate(text)).toBeUndefined();
    },
  );

  it.each([
    ['bytes up to the limit', MOST_RECORD_BYTES, undefined, true],
    ['one byte more', MOST_RECORD_BYTES + 1, undefined, false],
    ['one byte more than before', MOST_RECORD_BYTES + 2, MOST_RECORD_BYTES + 1, false],
    ['as many bytes as before', MOST_RECORD_BYTES + 1, MOST_RECORD_BYTES + 1, true],
  ])('of %s may or may not be written', (_, bytes, before, isIn) => {
    const held = before === undefined ? undefined : 'x'.repeat(before);
    expect(isRecordInBounds('x'.repeat(bytes), held)).toBe(isIn);
    // Two bytes each.
    expect(isRecordInBounds('é'.repeat(bytes), held)).toBe(false);
  });

  it('of 1,000 sources with long names is in bounds', () => {
    const hash = recordHash({}, sourceKeys('Secret/ns/db', [hashKey(Buffer.from('sixteen bytes or more'))]));
    const names = Array.from({ length: 1_000 }, (_, n) => `ConfigMap/${String(n).padStart(50, 'x')}`);
    expect(
      isRecordInBounds(writeRecord(Object.fromEntries(names.map((name) => [name, hash]))), undefined),
    ).toBe(true);
  });

  it('is absent where there is no annotation', () => {
    expect(readRecord(undefined)).toEqual({ state: 'absent' });
  });

  it.each([
    ['', 'is empty'],
    ['{"v":1', 'is cut off'],
    ['null', 'is null'],
    ['[]', 'is a list'],
    ['{"v":2,"s":{}}', 'is of a later version'],
    ['{"v":1,"s":[]}', 'has a list for a map'],
    ['{"v":1,"s":{"ConfigMap/a":7}}', 'has a number for a hash'],
    [recordOfNames(MOST_RECORDED + 1, ''), 'has more names than Reroll writes'],
    [recordOfNames(1, 'x'.repeat(MOST_RECORD_BYTES)), 'is longer than Reroll writes'],
  ])('that %j (%s) is unreadable and counts as empty', (text) => {
    expect(readRecord(text)).toEqual({ state: 'unreadable' });
    expect(recordedHashes(text)).toEqual({});
  });

  it('of as many names as fit is read', () => {
    expect(Object.keys(recordedHashes(recordOfNames(MOST_RECORDED, '')))).toHaveLength(MOST_RECORDED);
  });

  it('never throws, whatever somebody wrote there', () => {
    fc.assert(fc.property(fc.string(), (text) => void readRecord(text)));
    fc.assert(fc.property(fc.json(), (text) => void recordedHashes(text)));
  });
});
