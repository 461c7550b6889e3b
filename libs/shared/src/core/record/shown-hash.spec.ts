import { expect, it } from 'vitest';
import { DELETED_HASH, hashKey, recordHash } from './record-hash.ts';
import { shownHash } from './shown-hash.ts';

const data = { data: { password: 'aHVudGVyMg==' } };
const plain = recordHash(data, []);
const keyed = recordHash(data, [hashKey(Buffer.from('the key of the install'))]);

it('of a ConfigMap every hash is shown as it is', () => {
  for (const hash of [plain, keyed, DELETED_HASH]) expect(shownHash(hash, 'ConfigMap', 's')).toBe(hash);
});

it.each(['Secret', 'SecretProviderClass'])('of a %s only such as nobody can try guesses of', (kind) => {
  expect(shownHash(keyed, kind, 's')).toBe(keyed);
  expect(shownHash(DELETED_HASH, kind, 's')).toBe(DELETED_HASH);
  const shown = shownHash(plain, kind, 's');
  expect(shown).toMatch(/^shown\.[\w-]{43}$/);
  expect(shownHash(plain, kind, 's')).toBe(shown);
  expect(shownHash(plain, kind, 'another')).not.toBe(shown);
  expect(shownHash('1.other', kind, 's')).not.toBe(shown);
  // Whatever cannot be read as a keyed hash is taken for a plain one: records are annotations, which anybody may write.
  for (const hash of ['k.x', 'kxyz.x', '', 'plain']) expect(shownHash(hash, kind, 's')).toMatch(/^shown\./);
});
