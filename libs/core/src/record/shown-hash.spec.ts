import { expect, it } from 'vitest';
import { DELETED_HASH, hashKey, recordHash, sourceKeys } from './record-hash.ts';
import { shownHash } from './shown-hash.ts';

const data = { data: { password: 'aHVudGVyMg==' } };
const plain = recordHash(data, []);
const keyed = recordHash(
  data,
  sourceKeys('Secret/shop/db', [hashKey(Buffer.from('the key of the install'))]),
);

it('of a ConfigMap every hash is shown as it is', () => {
  for (const hash of [plain, keyed, DELETED_HASH])
    expect(shownHash('ConfigMap/shop/db', hash, 's')).toBe(hash);
});

it.each(['Secret', 'SecretProviderClass'] as const)(
  'of a %s only what says nothing but whether it changed',
  (kind) => {
    const source = `${kind}/shop/db` as const;
    expect(shownHash(source, DELETED_HASH, 's')).toBe(DELETED_HASH);
    // Whatever is in a record: records are annotations, which anybody may write.
    for (const hash of [plain, keyed, 'k.x', 'kxyz.x', '', 'plain']) {
      const shown = shownHash(source, hash, 's');
      expect(shown).toMatch(/^shown\.[\w-]{43}$/);
      expect(shownHash(source, hash, 's')).toBe(shown);
      expect(shownHash(source, hash, 'another')).not.toBe(shown);
      expect(shownHash(source, `${hash}x`, 's')).not.toBe(shown);
    }
  },
);

it.each([
  ['plain', plain],
  ['keyed', keyed],
])('equal data of another Secret is not seen to be equal by a %s hash', (_, hash) => {
  const shown = shownHash('Secret/shop/db', hash, 's');
  for (const guess of ['Secret/theirs/db', 'Secret/shop/guess', 'SecretProviderClass/shop/db'] as const)
    expect(shownHash(guess, hash, 's')).not.toBe(shown);
});
