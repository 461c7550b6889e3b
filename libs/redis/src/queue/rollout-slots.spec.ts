import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { CatalogKeys } from '../catalog/keys.ts';
import { RealRedis } from '../testing/real-redis.ts';
import { reloadJobOf } from './jobs.ts';
import { RolloutSlots } from './rollout-slots.ts';

const WEB = 'Deployment/shop/web';
const API = 'Deployment/shop/api';

let redis: RealRedis;
let keys: CatalogKeys;
let slots: RolloutSlots;

beforeAll(async () => {
  redis = await RealRedis.start();
});
afterAll(() => redis.stop());
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

it('lets nobody use a slot late, or what is not one', async () => {
  await slots.write('7', [[WEB, { at: Date.now() - 30_000, reloadedAt: 0 }]], []);
  await redis.client.hset(keys.slots, API, '{"at":"now"}');
  expect([await slots.isGranted(WEB), await slots.isGranted(API)]).toEqual([false, false]);
  expect([...(await slots.grants()).keys()]).toEqual([WEB]);
});

it('writes nothing for a leader that was followed by another', async () => {
  await redis.client.set(keys.writer, '8:1');
  expect(await slots.write('7', [[WEB, now()]], [])).toBe(false);
  expect(await slots.isGranted(WEB)).toBe(false);
});

it('forgets a workload that needs no slot', async () => {
  await slots.ask({ job: reloadJobOf(WEB, 1) });
  await slots.write('7', [[WEB, now()]], []);
  await slots.leave(WEB);
  expect([await slots.isGranted(WEB), await slots.takeRequests(10)]).toEqual([false, []]);
});
