import { describe, expect, test } from 'vitest';
import type { Rv } from '@reroll/core/rv';
import { Listing } from './listing.ts';

const SCOPE = { kind: 'ConfigMap', namespace: 'a' };

interface Row {
  readonly rv: Rv;
}

function listingOf(by: { held?: Rv; inCatalog?: ReadonlyMap<string, Row> | Error }) {
  const checks: string[] = [];
  const read = (): Promise<Map<string, Row>> =>
    by.inCatalog instanceof Error
      ? Promise.reject(by.inCatalog)
      : Promise.resolve(new Map(by.inCatalog ?? []));
  const listing = new Listing<string, Row>({
    scope: SCOPE,
    catalog: { of: read, besides: read },
    held: () => (by.held === undefined ? undefined : { rv: by.held }),
    check: async (key) => void checks.push(key),
  });
  return { listing, checks };
}

describe('a list that shows objects', () => {
  /** How many objects are checked when a list shows `count` of them at version 5, and how many keys its end has. */
  async function checksOf(by: { count: number; held?: Rv; inCatalog?: Rv }) {
    const objects = Array.from({ length: by.count }, (_, index) => ({
      key: `ConfigMap/a/${index}`,
      rv: '5',
    }));
    const { inCatalog: rv, ...held } = by;
    const rows = rv === undefined ? {} : { inCatalog: new Map(objects.map(({ key }) => [key, { rv }])) };
    const { listing, checks } = listingOf({ ...held, ...rows });
    listing.begin();
    await listing.rowsOf(objects);
    listing.found(objects);
    const { found } = await listing.end('6', []);
    return { checks: checks.length, found: found.size };
  }

  test.each([
    ['nothing is known of', {}, 0],
    ['the cluster state has the same version of', { held: '5' }, 0],
    ['the cluster state has an older version of', { held: '4' }, 0],
    ['the cluster state has a newer version of', { held: '7' }, 1],
    ['the catalog has a newer version of, at most as new as the list', { inCatalog: '6' }, 1],
  ])('has those checked that %s', async (_, known, checks) => {
    expect(await checksOf({ count: 1, ...known })).toEqual({ checks, found: 1 });
  });

  test('has no more than ten checked', async () => {
    expect(await checksOf({ count: 500, held: '7' })).toEqual({ checks: 10, found: 500 });
  });
});

test('what is deleted while it is listed was not found', async () => {
  const { listing } = listingOf({});
  listing.begin();
  listing.found([{ key: 'ConfigMap/a/x' }, { key: 'ConfigMap/a/y' }]);
  expect(listing.drop('ConfigMap/a/x')).toBe(true);
  expect((await listing.end('6', ['a/z'])).found).toEqual(new Set(['ConfigMap/a/y']));
  listing.ended();
  expect(listing.drop('ConfigMap/a/y')).toBe(false);
});

test('a list ends with the keys of what could not be read, and what only the catalog has', async () => {
  const inCatalog = new Map([['ConfigMap/a/old', { rv: '3' }]]);
  const { listing } = listingOf({ inCatalog });
  listing.begin();
  expect(await listing.end('6', ['a/z'])).toMatchObject({ unread: ['ConfigMap/a/z'], catalog: inCatalog });
  listing.ended();
  listing.begin();
  expect((await listing.end('7', [])).catalog).toEqual(new Map());
});

test('a catalog that cannot be read fails the list at its end, and only that one', async () => {
  const by: Parameters<typeof listingOf>[0] = { inCatalog: new Error('not now') };
  const { listing } = listingOf(by);
  listing.begin();
  expect(await listing.rowsOf([{ key: 'ConfigMap/a/x', rv: '5' }])).toBeNull();
  // Also if it can be read again by then: what it has of `x` was not read.
  by.inCatalog = new Map();
  await expect(listing.end('6', [])).rejects.toThrow('not now');
  listing.begin();
  expect(await listing.rowsOf([{ key: 'ConfigMap/a/x', rv: '5' }])).toEqual(new Map());
});
