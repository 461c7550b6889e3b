import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { RealRedis } from '../testing/real-redis.ts';
import { RateBudget } from './rate.ts';

let redis: RealRedis;
let key: string;

beforeAll(async () => {
  redis = await RealRedis.start();
});
afterAll(() => redis.stop());
beforeEach(() => {
  key = redis.freshKeys().budget;
});

/** How many tokens can be had at once. */
async function takeAll(budget: RateBudget): Promise<number> {
  let taken = 0;
  while ((await budget.take()) === 0) taken += 1;
  return taken;
}

it.each([
  [60, 6],
  [100, 10],
  [9, 1],
  [1, 1],
])('of %d a minute, %d can be taken at once', async (perMinute, atOnce) => {
  expect(await takeAll(new RateBudget(redis.client, key, perMinute))).toBe(atOnce);
});

it('says how long it takes until there is a token', async () => {
  const budget = new RateBudget(redis.client, key, 6);
  expect(await budget.take()).toBe(0);
  const wait = await budget.take();
  expect(wait).toBeGreaterThan(9_000);
  expect(wait).toBeLessThanOrEqual(10_000);
});

it('gives one token after that time, and no more', async () => {
  const budget = new RateBudget(redis.client, key, 300);
  await takeAll(budget);
  const wait = await budget.take();
  expect(wait).toBeLessThanOrEqual(200);
  await sleep(wait);
  expect(await takeAll(budget)).toBe(1);
});

it('is one for all workers together', async () => {
  const one = new RateBudget(redis.client, key, 60);
  const other = new RateBudget(redis.connect(), key, 60);
  const waits = await Promise.all(Array.from({ length: 10 }, (_, n) => (n % 2 === 0 ? one : other).take()));
  expect(waits.filter((wait) => wait === 0)).toHaveLength(6);
});

it('a refusal costs nothing', async () => {
  const budget = new RateBudget(redis.client, key, 6);
  await budget.take();
  const first = await budget.take();
  for (let n = 0; n < 20; n += 1) await budget.take();
  expect(await budget.take()).toBeLessThanOrEqual(first);
});

it('leaves no key behind for ever', async () => {
  await new RateBudget(redis.client, key, 60).take();
  expect(await redis.client.pttl(key)).toBeGreaterThan(0);
});

it('without a limit, or once it is lifted, gives whatever is asked for', async () => {
  const budget = new RateBudget(redis.client, key, 1);
  await takeAll(budget);
  budget.setPerMinute(0);
  expect([await budget.take(), await budget.take()]).toEqual([0, 0]);
  budget.setPerMinute(1);
  expect(await budget.take()).toBeGreaterThan(0);
});
