import { expect, it } from 'vitest';
import { NamespacesAsked } from '../history/namespaces-asked.ts';
import { listNamespaces } from './namespace-list.ts';

const WORKLOADS = ['shop-2/web/Deployment', 'shop/api/Deployment', 'shop/web/Deployment'];
const SOURCES = ['bank/db/Secret', 'shop/db/Secret', 'zoo/cm/ConfigMap'];
const EVERYTHING = { all: true, sees: () => Promise.resolve(true) };

async function listed(
  query: { name?: string; limit?: number },
  visibility: ConstructorParameters<typeof NamespacesAsked>[0] = EVERYTHING,
): Promise<string> {
  const asked = { limit: 50, ...query };
  const { items, complete } = await listNamespaces(
    asked,
    [WORKLOADS, SOURCES],
    new NamespacesAsked(visibility),
  );
  return [...items.map(({ name }) => name), ...(complete ? [] : ['…'])].join(' ');
}

it('lists the namespaces of workloads and of sources, each once', async () => {
  expect(await listed({})).toBe('bank shop-2 shop zoo');
  expect(await listed({ name: 'o' })).toBe('shop-2 shop zoo');
  expect(await listed({ name: 'nowhere' })).toBe('');
});

it('says whether there are more than the limit', async () => {
  expect(await listed({ limit: 2 })).toBe('bank shop-2 …');
  expect(await listed({ limit: 4 })).toBe('bank shop-2 shop zoo');
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
