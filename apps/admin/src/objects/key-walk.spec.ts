import type { Key } from '@reroll/core/model';
import { describe, expect, it } from 'vitest';
import { NamespacesAsked } from '../history/namespaces-asked.ts';
import { KeyIndex, placeOf } from './key-index.ts';
import { KeyWalk, type WalkFilter } from './key-walk.ts';

const KEYS = [
  'Deployment/shop/api',
  'Deployment/shop/web',
  'StatefulSet/shop/web',
  'Deployment/shop-2/web',
  'Deployment/bank/ledger',
  'Deployment/shop.x/web',
] as const;
const PLACES = KEYS.map(placeOf).sort();

function namespaces(...seen: readonly string[]): NamespacesAsked {
  return new NamespacesAsked({ all: false, sees: (namespace) => Promise.resolve(seen.includes(namespace)) });
}

/** All pages of this size. */
async function pages(by: {
  seen: readonly string[];
  filter?: WalkFilter;
  count: number;
}): Promise<Key<string>[][]> {
  const found: Key<string>[][] = [];
  let last: string | undefined;
  for (;;) {
    const walk = new KeyWalk(PLACES, by.filter ?? {}, last);
    found.push(await walk.take(by.count, namespaces(...by.seen)));
    last = walk.last;
    if (walk.isAtEnd) return found;
  }
}

describe('a walk over keys', () => {
  it('goes by namespace and name, in pages that neither repeat nor leave out', async () => {
    const seen = ['bank', 'shop', 'shop-2', 'shop.x'];
    expect((await pages({ seen, count: 4 })).flat().map(placeOf)).toEqual(PLACES);
    expect((await pages({ seen, count: 1 })).flat().map(placeOf)).toEqual(PLACES);
  });

  it('passes over what the caller does not see', async () => {
    expect(await pages({ seen: ['shop'], count: 2 })).toEqual([
      ['Deployment/shop/api', 'Deployment/shop/web'],
      ['StatefulSet/shop/web'],
    ]);
    expect(await pages({ seen: [], count: 2 })).toEqual([[]]);
  });

  it.each<[string, WalkFilter, string[]]>([
    [
      'of one namespace, and not of those whose names begin like it',
      { namespace: 'shop' },
      ['Deployment/shop/api', 'Deployment/shop/web', 'StatefulSet/shop/web'],
    ],
    ['of a kind', { kind: 'StatefulSet' }, ['StatefulSet/shop/web']],
    ['with a part of the name', { name: 'edg' }, ['Deployment/bank/ledger']],
    ['but not with a part of the namespace or the kind', { name: 'shop' }, []],
    ['of a namespace that is not there', { namespace: 'nowhere' }, []],
  ])('takes those %s', async (_, filter, keys) => {
    expect((await pages({ seen: ['bank', 'shop', 'shop-2'], filter, count: 2 })).flat()).toEqual(keys);
  });

  it('ends a page after questions about a hundred namespaces, and goes on from there', async () => {
    const places = Array.from({ length: 250 }, (_, at) => `team-${1000 + at}/web/Deployment`);
    let asked = 0;
    const ask = (): NamespacesAsked =>
      new NamespacesAsked({
        all: false,
        sees: (namespace) => {
          asked += 1;
          return Promise.resolve(namespace === 'team-1249');
        },
      });
    const lengths: number[] = [];
    let last: string | undefined;
    for (;;) {
      const walk = new KeyWalk(places, {}, last);
      lengths.push((await walk.take(50, ask())).length);
      last = walk.last;
      if (walk.isAtEnd) break;
    }
    expect([lengths, asked]).toEqual([[0, 0, 1], 250]);
  });
});

describe('the index of keys', () => {
  it('has what a scan found, sorted, each once, and what is remembered of it', async () => {
    const index = new KeyIndex<'owed'>(async function* () {
      yield [
        ['Deployment/shop/web', null],
        ['Deployment/bank/ledger', 'owed'],
      ];
      yield [['Deployment/shop/web', null]];
    });
    const { places, marks } = await index.snapshot();
    expect(places).toEqual(['bank/ledger/Deployment', 'shop/web/Deployment']);
    expect([...marks]).toEqual([['Deployment/bank/ledger', 'owed']]);
  });

  it('scans once for all who ask at the same time, and fails for all of them if it fails', async () => {
    let scans = 0;
    // oxlint-disable-next-line require-yield -- it fails before
    const index = new KeyIndex<null>(async function* () {
      scans += 1;
      await Promise.resolve();
      throw new Error('no Redis');
    });
    const both = await Promise.allSettled([index.snapshot(), index.snapshot()]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(scans).toBe(1);
    await expect(index.snapshot()).rejects.toThrow('no Redis');
    expect(scans).toBe(2);
  });
});
