import { beforeEach, expect, it } from 'vitest';
import type { CatalogKeys } from '../catalog/keys.ts';
import { useRealRedis } from '../testing/real-redis.ts';
import { reloadJobOf } from './jobs.ts';
import { RolloutSlots } from './rollout-slots.ts';

const WEB = 'Deployment/shop/web';
const API = 'Deployment/shop/api';

const redis = useRealRedis();
let keys: CatalogKeys;
let slots: RolloutSlots;

beforeEach(() => {
  keys = redis.freshKeys();
  slots = new RolloutSlots(redis.client, keys);
});

const now = (): { at: number; reloadedAt: number } => ({ at: Date.now(), reloadedAt: 7 });

it('takes each request once, and the latest one of a workload', async () => {
  await slots.ask({ job: reloadJobOf(WEB, 1), most: 3 });
  await slots.ask({ job: reloadJobOf(WEB, 2) });
  await slots.ask({ job: reloadJobOf(API, 3), most: 4 });
  const taken = await slots.takeRequests(10);
  expect(taken.toSorted((a, b) => a.job.since - b.job.since)).toEqual([
    { job: reloadJobOf(WEB, 2) },
    { job: reloadJobOf(API, 3), most: 4 },
  ]);
  expect(await slots.takeRequests(10)).toEqual([]);
});

it('drops a request that cannot be read', async () => {
  await redis.client.hset(keys.slotRequests, WEB, '{"job":{"v":1}}', API, '?');
  expect(await slots.takeRequests(10)).toEqual([]);
  expect(await redis.client.exists(keys.slotRequests)).toBe(0);
});

it('grants a workload its slot, until it is ended', async () => {
  expect(await slots.isGranted(WEB)).toBe(false);
  const grant = now();
  expect(await slots.write('7', [[WEB, grant]], [])).toBe(true);
  expect([await slots.isGranted(WEB), await slots.isGranted(API)]).toEqual([true, false]);
  expect(await slots.grants()).toEqual(new Map([[WEB, grant]]));
  await slots.write('7', [[API, grant]], [WEB]);
  expect([await slots.isGranted(WEB), await slots.isGranted(API)]).toEqual([false, true]);
});

it('lets nobody use what is no slot', async () => {
  await slots.write('7', [[WEB, now()]], []);
  await redis.client.hset(keys.slots, API, '{"at":"now"}');
  expect([await slots.isGranted(WEB), await slots.isGranted(API)]).toEqual([true, false]);
  expect([...(await slots.grants()).keys()]).toEqual([WEB]);
});

it('keeps a slot for as long as its workload waits for something else', async () => {
  await slots.keep(WEB, 90_000);
  expect(await slots.isGranted(WEB)).toBe(false);
  await slots.write('7', [[WEB, { at: 1, reloadedAt: 7 }]], []);
  await slots.keep(WEB, 90_000);
  expect((await slots.grants()).get(WEB)).toEqual({ at: 90_000, reloadedAt: 7 });
});

it('takes all requests, however many there are', async () => {
  const names = Array.from({ length: 20_000 }, (_, at) => `Deployment/shop/w${at}` as const);
  for (let at = 0; at < names.length; at += 1_000)
    await Promise.all(names.slice(at, at + 1_000).map((name) => slots.ask({ job: reloadJobOf(name, 1) })));
  const taken = new Set<string>();
  for (let turn = 0; turn < 100; turn += 1)
    for (const { job } of await slots.takeRequests(1_000)) taken.add(job.workload);
  expect(taken.size).toBe(names.length);
});

it('writes nothing for a leader that was followed by another', async () => {
  await redis.client.set(keys.writer, '8:1');
  expect(await slots.write('7', [[WEB, now()]], [])).toBe(false);
  expect(await slots.isGranted(WEB)).toBe(false);
});

it('forgets a workload that needs no slot', async () => {
  await slots.ask({ job: reloadJobOf(WEB, 1) });
  await slots.write('7', [[WEB, now()]], []);
  await slots.leave(WEB, 7);
  expect([await slots.isGranted(WEB), await slots.takeRequests(10)]).toEqual([false, []]);
});

it('leaves a slot that was used to the leader', async () => {
  await slots.write('7', [[WEB, now()]], []);
  await slots.leave(WEB, 8);
  expect(await slots.isGranted(WEB)).toBe(true);
});
