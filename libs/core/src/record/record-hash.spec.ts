import { describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import { hashKey, isHashOf, isKeyKnown, recordHash, sourceKeys, type SourceHashKey } from './record-hash.ts';

const KEYS = ['today', 'older'].map((name) => hashKey(Buffer.from(`${name}, sixteen bytes or more`)));
const [today, older] = sourceKeys('Secret/ns/db', KEYS) as [SourceHashKey, SourceHashKey];
const entries = fc.dictionary(fc.string(), fc.string());

describe('the hash of the record', () => {
  it('does not depend on the order of keys', () => {
    fc.assert(
      fc.property(entries, (data) => {
        const turned = Object.fromEntries(Object.entries(data).toReversed());
        expect(recordHash({ data: turned }, [])).toBe(recordHash({ data }, []));
      }),
    );
  });

  it.each([
    ['a value that reads like another entry', { a: '1;b=2' }, { a: '1', b: '2' }],
    ['a key that swallows a value', { ab: 'c' }, { a: 'bc' }],
    ['no value and an empty one', {}, { a: '' }],
  ])('tells apart %s', (_, one, other) => {
    expect(recordHash({ data: one }, [])).not.toBe(recordHash({ data: other }, []));
  });

  it('tells text from binary data of the same spelling', () => {
    expect(recordHash({ data: { a: 'AAE=' } }, [])).not.toBe(recordHash({ binaryData: { a: 'AAE=' } }, []));
  });

  it('is the same for absent and empty data', () => {
    expect(recordHash({}, [])).toBe(recordHash({ data: {}, binaryData: {} }, []));
  });

  it('takes a value that the API serves as null for an empty one', () => {
    const data = { a: null } as unknown as Record<string, string>;
    const empty = recordHash({ data: { a: '' } }, []);
    expect(recordHash({ data }, [])).toBe(empty);
    expect(recordHash({ binaryData: data }, [])).toBe(recordHash({ binaryData: { a: '' } }, []));
    expect(isHashOf(empty, { data }, [])).toBe(true);
  });

  it('names its scheme: plain without a key, the key otherwise', () => {
    expect(recordHash({}, [])).toMatch(/^1\.[\w-]{43}$/);
    expect(recordHash({}, [today])).toMatch(new RegExp(`^k${today.id}\\.[\\w-]{43}$`));
    expect(recordHash({}, [today, older])).toBe(recordHash({}, [today]));
  });

  it.each(['ConfigMap/ns/db', 'Secret/mine/db', 'Secret/ns/mine'] as const)(
    'under a key, is another one for the same data of %s: it confirms no guess',
    (mine) => {
      const data = { data: { password: 'aHVudGVyMg==' } };
      const secret = recordHash(data, [today]);
      expect(recordHash(data, sourceKeys(mine, KEYS))).not.toBe(secret);
      expect(isHashOf(secret, data, sourceKeys(mine, KEYS))).toBe(false);
      expect(isHashOf(secret, data, sourceKeys('Secret/ns/db', KEYS))).toBe(true);
    },
  );

  it('is judged under the scheme that it names', () => {
    const data = { data: { password: 'hunter2' } };
    expect(isHashOf(recordHash(data, []), data, [today])).toBe(true);
    expect(isHashOf(recordHash(data, [older]), data, [today, older])).toBe(true);
    expect(isHashOf(recordHash(data, [older]), { data: { password: 'other' } }, [today, older])).toBe(false);
  });

  it.each(['', '.', '1', '2.abc', 'k00000000.abc', 'nonsense'])('is not equal if it reads %j', (recorded) => {
    expect(isHashOf(recorded, {}, [today])).toBe(false);
  });

  it('tells whether its key is known; without a key everybody can tell', () => {
    expect(isKeyKnown(recordHash({}, [older]), [today])).toBe(false);
    expect(isKeyKnown(recordHash({}, [older]), [today, older])).toBe(true);
    expect(isKeyKnown(recordHash({}, []), [today])).toBe(true);
    expect(isKeyKnown('nonsense', [])).toBe(true);
  });

  it('under a key that is gone is not equal', () => {
    expect(isHashOf(recordHash({}, [older]), {}, [today])).toBe(false);
  });
});
