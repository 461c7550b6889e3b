import type { WorkloadRow } from '@reroll/core/state/rows';
import { expect, it } from 'vitest';
import { sourceRow, workloadRow } from '@reroll/core/testing/rows';
import type { RedisClient } from '../connection/redis.ts';
import { useRealRedis } from '../testing/real-redis.ts';
import { encodeSource, encodeWorkload } from './row-codec.ts';
import { RowsOfNamespace } from './rows-of-namespace.ts';
import { shownHashKey } from './shown-hash-key.ts';

const redis = useRealRedis();

it('gives the rows of a namespace, of one kind or all, also where there are too many for one answer', async () => {
  const keys = redis.freshKeys();
  const many = Array.from({ length: 2_500 }, (_, index) => `Deployment/shop/w${index}`);
  const others = ['Rollout/shop/w0', 'Deployment/shop-2/w0', 'Deployment/other/shop'];
  for (const key of [...many, ...others]) {
    await redis.client.hset(keys.workloads, key, encodeWorkload(workloadRow({ uid: key }), []));
  }
  await redis.client.hset(keys.workloads, 'Deployment/shop/unreadable', 'no row');
  await redis.client.hset(keys.sources, {
    'Secret/shop/a': encodeSource(sourceRow(1, 'a')),
    'ConfigMap/shop/a': encodeSource(sourceRow(2, 'a')),
  });
  const rows = new RowsOfNamespace(redis.client, keys);
  const workloads = async (...of: Parameters<RowsOfNamespace['eachWorkload']>) => {
    const found: [string, WorkloadRow][] = [];
    for await (const portion of rows.eachWorkload(...of)) found.push(...portion);
    return found;
  };
  expect((await workloads('shop')).map(([key]) => key).sort()).toEqual([...many, 'Rollout/shop/w0'].sort());
  expect(await workloads('shop', 'Rollout')).toEqual([
    ['Rollout/shop/w0', expect.objectContaining({ uid: 'Rollout/shop/w0' })],
  ]);
  expect(await workloads('nowhere')).toEqual([]);
  expect([...(await rows.sources('shop', 'Secret'))]).toEqual([['Secret/shop/a', sourceRow(1, 'a')]]);
});

it('the key of shown hashes is one for all who ask, at the same time too', async () => {
  const { shownHashKey: key } = redis.freshKeys();
  const made = await Promise.all([1, 2, 3].map(() => shownHashKey(redis.client, key)));
  expect(new Set(made).size).toBe(1);
  expect(made[0]).toMatch(/^[\w-]{43}$/);
  expect(await shownHashKey(redis.client, key)).toBe(made[0]);
});

it('gives a workload once that the scan brings twice', async () => {
  const text = encodeWorkload(workloadRow(), []);
  const replies = [
    ['7', ['Deployment/shop/a', text, 'Deployment/shop/b', text]],
    ['0', ['Deployment/shop/b', text, 'Deployment/shop/c', text]],
  ];
  const scanned = { hscan: async () => replies.shift() } as unknown as RedisClient;
  const found: string[][] = [];
  for await (const rows of new RowsOfNamespace(scanned, redis.freshKeys()).eachWorkload('shop'))
    found.push([...rows.keys()]);
  expect(found).toEqual([['Deployment/shop/a', 'Deployment/shop/b'], ['Deployment/shop/c']]);
});
