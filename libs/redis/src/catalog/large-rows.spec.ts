import type { WorkloadRow } from '@reroll/core/state/rows';
import type { SourceKey, WorkloadKey } from '@reroll/core/model';
import { beforeEach, expect, it } from 'vitest';
import { useRealRedis } from '../testing/real-redis.ts';
import type { RedisClient } from '../connection/redis.ts';
import { Catalog } from './catalog.ts';
import { RowsOfNamespace } from './rows-of-namespace.ts';
import { SIZE_OF_PORTION } from './scan-hash.ts';
import { workloadRow } from './testing/rows.ts';

const LARGE = 'x'.repeat(300_000);

const redis = useRealRedis();
let catalog: Catalog;
/** Characters in each reply with rows, in order. */
let replies: number[];
let client: RedisClient;

beforeEach(() => {
  replies = [];
  client = counting(redis.client);
  catalog = new Catalog(client, redis.freshKeys());
});

function counting(real: RedisClient): RedisClient {
  const count = <Reply>(reply: Reply): Reply => {
    replies.push(JSON.stringify(reply).length);
    return reply;
  };
  return new Proxy(real, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      const call = value.bind(target) as (...args: unknown[]) => Promise<unknown>;
      const isRead = String(name).startsWith('reroll:') || name === 'hscan' || name === 'hmget';
      return isRead ? async (...args: unknown[]) => count(await call(...args)) : call;
    },
  });
}

let sequence = 0;

async function publish(
  keys: readonly WorkloadKey[],
  row: Partial<WorkloadRow>,
  index: readonly SourceKey[] = [],
): Promise<void> {
  for (let at = 0; at < keys.length; at += 250) {
    const workloads = keys.slice(at, at + 250).map((key) => [key, { row: workloadRow(row), index }] as const);
    await catalog.publish({ writer: { term: '1', sequence }, begins: true, sources: [], workloads });
    sequence += 1;
  }
  replies = [];
}

function keysOf(count: number, namespace = 'shop'): WorkloadKey[] {
  return Array.from({ length: count }, (_, n) => `Deployment/${namespace}/w${n}` as const);
}

it('large rows that are read by key come in replies of 2 MiB', async () => {
  const keys = keysOf(40);
  await publish(keys, { record: LARGE });
  const found: WorkloadKey[] = [];
  for await (const rows of catalog.eachWorkloadOf(keys)) found.push(...rows.keys());
  expect(found).toEqual(keys);
  expect(Math.max(...replies)).toBeLessThan(SIZE_OF_PORTION + 2 * LARGE.length);
  expect([...(await catalog.workloads(keys)).keys()]).toEqual(keys);
});

it('500 ordinary rows are read by key in one round trip, and those that are not there are left out', async () => {
  const keys = keysOf(500);
  await publish(keys.slice(1, 499), {});
  expect((await catalog.workloads(keys)).size).toBe(498);
  expect(replies).toHaveLength(1);
  expect((await catalog.workloads([...keys, ...keysOf(1, 'other')])).size).toBe(498);
  expect(replies).toHaveLength(3);
});

it('a row that is larger than a reply is read all the same', async () => {
  const keys = keysOf(2);
  await publish(keys, { record: 'x'.repeat(3 * 1024 * 1024) });
  expect([...(await catalog.workloads(keys)).keys()]).toEqual(keys);
  expect(replies).toHaveLength(2);
});

it.each([
  ['every row', async () => await inTotal(catalog.eachWorkload(() => true))],
  ['keys alone', async () => await inTotal(catalog.eachWorkload(() => false))],
  ['a namespace', async () => await inTotal(keysIn(new RowsOfNamespace(client, catalog.keys)))],
  ['to reset', async () => await catalog.reset('7')],
])('a scan for %s brings large rows in small replies', async (_, scan) => {
  await publish(keysOf(200), { record: LARGE });
  await scan();
  const all = replies.reduce((sum, each) => sum + each, 0);
  expect(all).toBeGreaterThan(200 * LARGE.length);
  // How many come together is chance, because rows are spread at random.
  expect(Math.max(...replies)).toBeLessThan(4 * SIZE_OF_PORTION);
});

it('a scan brings ordinary rows a thousand at a time', async () => {
  await publish(keysOf(10_000), {});
  expect(await inTotal(catalog.eachWorkload(() => true))).toBeGreaterThanOrEqual(10_000);
  expect(replies.length).toBeLessThanOrEqual(10_000 / 1_000 + 6);
});

async function* keysIn(rows: RowsOfNamespace): AsyncGenerator<WorkloadKey[]> {
  for await (const portion of rows.eachWorkload('shop')) yield [...portion.keys()];
}

async function inTotal(portions: AsyncIterable<readonly unknown[]>): Promise<number> {
  let total = 0;
  for await (const { length } of portions) total += length;
  return total;
}

/** Calls of a command so far. */
async function callsOf(command: string): Promise<number> {
  const [, calls = '0'] =
    new RegExp(`cmdstat_${command}:calls=(\\d+)`, 'u').exec(await redis.client.info('commandstats')) ?? [];
  return Number(calls);
}

it('a row that changes changes only those entries of the index that differ', async () => {
  const index = Array.from({ length: 1_000 }, (_, n) => `ConfigMap/shop/c${n}` as const);
  await publish(keysOf(1), {}, index);
  const before = { added: await callsOf('sadd'), removed: await callsOf('srem') };
  await publish(keysOf(1), { generation: 2 }, ['Secret/shop/new', ...index.slice(1)]);
  expect((await callsOf('sadd')) - before.added).toBe(1);
  expect((await callsOf('srem')) - before.removed).toBe(1);
  const users = (source: SourceKey): Promise<WorkloadKey[]> => catalog.users(source);
  expect(await users('ConfigMap/shop/c0')).toEqual([]);
  expect(await users('ConfigMap/shop/c1')).toEqual(keysOf(1));
  expect(await users('Secret/shop/new')).toEqual(keysOf(1));
});
