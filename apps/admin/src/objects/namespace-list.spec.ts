import { expect, it } from 'vitest';
import { NamespacesAsked } from '../history/namespaces-asked.ts';
import { listNamespaces } from './namespace-list.ts';

const WORKLOADS = ['shop-2/web/Deployment', 'shop/api/Deployment', 'shop/web/Deployment'];
const SOURCES = ['bank/db/Secret', 'shop/db/Secret', 'zoo/cm/ConfigMap'];
const EVERYTHING = { all: true, sees: () => Promise.resolve(true) };

async function listed(
  query: { name?: string; limit?: number; after?: string },
  visibility: ConstructorParameters<typeof NamespacesAsked>[0] = EVERYTHING,
): Promise<string> {
  const asked = { limit: 50, ...query };
  const { items, last } = await listNamespaces(asked, [WORKLOADS, SOURCES], new NamespacesAsked(visibility));
  return [...items.map(({ name }) => name), ...(last === undefined ? [] : [`… ${last}`])].join(' ');
}

it('lists the namespaces of workloads and of sources, each once', async () => {
  expect(await listed({})).toBe('bank shop-2 shop zoo');
  expect(await listed({ name: 'o' })).toBe('shop-2 shop zoo');
  expect(await listed({ name: 'nowhere' })).toBe('');
});

it('says after which one the next page begins, if there are more than the limit', async () => {
  expect(await listed({ limit: 2 })).toBe('bank shop-2 … shop-2');
  expect(await listed({ limit: 2, after: 'shop-2' })).toBe('shop zoo');
  expect(await listed({ limit: 4 })).toBe('bank shop-2 shop zoo');
});

it('goes on with the next page after those that it asked about', async () => {
  const many = Array.from({ length: 150 }, (_, at) => `ns-${100 + at}/web/Deployment`);
  const sees = (namespace: string): Promise<boolean> => Promise.resolve(namespace === 'ns-249');
  const pageAfter = (after?: string) =>
    listNamespaces({ limit: 50, after }, [many], new NamespacesAsked({ all: false, sees }));
  expect(await pageAfter()).toEqual({ items: [], last: 'ns-199' });
  expect(await pageAfter('ns-199')).toEqual({ items: [{ name: 'ns-249' }], last: undefined });
});

it('leaves out those that the caller does not see, does not count them, and asks only about those that match', async () => {
  const asked: string[] = [];
  const sees = (namespace: string): Promise<boolean> => {
    asked.push(namespace);
    return Promise.resolve(namespace === 'shop');
  };
  expect(await listed({ name: 'shop', limit: 1 }, { all: false, sees })).toBe('shop');
  expect(asked).toEqual(['shop-2', 'shop']);
});
