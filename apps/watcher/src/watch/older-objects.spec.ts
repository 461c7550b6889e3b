import { describe, expect, test } from 'vitest';
import { OlderObjects, type OlderObject } from './older-objects.ts';

const CONFIG_MAPS = { group: '', version: 'v1', plural: 'configmaps' };
const KEY = 'ConfigMap/shop/settings';

/** An API server whose etcd has this object (`null`: none) and this revision; the first `failures` reads fail. */
async function checked(by: { object: string | null; etcd: string; failures?: number }): Promise<{
  restored: OlderObject[];
  requests: number;
}> {
  const restored: OlderObject[] = [];
  let requests = 0;
  const client = {
    get: <T>() => {
      requests += 1;
      if (requests <= (by.failures ?? 0)) return Promise.reject(new Error('not now'));
      const items = by.object === null ? [] : [{ metadata: { resourceVersion: by.object } }];
      const body = { metadata: { resourceVersion: by.etcd }, items } as T;
      return Promise.resolve({ status: 200, body, date: 0 });
    },
  };
  const signal = new AbortController().signal;
  const objects = new OlderObjects({
    client,
    signal,
    log: { failure: () => undefined },
    onRestored: (object) => restored.push(object),
  });
  await objects.check(CONFIG_MAPS, KEY, '900');
  await objects.check(CONFIG_MAPS, KEY, '900');
  return { restored, requests };
}

describe('an object that a list shows older than it was known', () => {
  test('proves that etcd was restored if a read after that shows it older too; once', async () => {
    const { restored, requests } = await checked({ object: '450', etcd: '1000' });
    expect(restored).toEqual([{ key: KEY, seenBefore: '900', seenNow: '450' }]);
    expect(requests).toBe(1);
  });

  test.each([
    ['the catalog was ahead of the list', { object: '900', etcd: '1000' }],
    ['it was written since', { object: '950', etcd: '1000' }],
    ['it was deleted since', { object: null, etcd: '1000' }],
    ['its resourceVersion is no number', { object: 'abc', etcd: '1000' }],
  ])('proves nothing if %s', async (_, now) => {
    expect((await checked(now)).restored).toEqual([]);
  });

  test('proves it if it is gone and etcd itself is older than it was', async () => {
    expect((await checked({ object: null, etcd: '500' })).restored).toHaveLength(1);
  });

  test('is read again if that fails', async () => {
    const { restored, requests } = await checked({ object: '450', etcd: '1000', failures: 1 });
    expect([restored.length, requests]).toEqual([1, 2]);
  });
});
