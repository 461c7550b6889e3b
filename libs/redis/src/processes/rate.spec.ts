import type { WorkloadKey } from '@reroll/core/model';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { useRealRedis } from '../testing/real-redis.ts';
import { RateBudget } from './rate.ts';

const [FIRST, SECOND, THIRD] = ['Deployment/a/00000', 'Deployment/a/00001', 'Deployment/a/00002'] as const;

const redis = useRealRedis();
let key: string;

beforeEach(() => {
  key = redis.freshKeys().budget;
});

function workloads(namespace: string, count: number): WorkloadKey[] {
  return Array.from(
    { length: count },
    (_, n) => `Deployment/${namespace}/${String(n).padStart(5, '0')}` as const,
  );
}

/** Those of them that hold a slot, in the order in which they were given one. */
async function granted(budget: RateBudget, asking: readonly WorkloadKey[]): Promise<WorkloadKey[]> {
  const waits = await Promise.all(asking.map((workload) => budget.claim(workload)));
  return asking.filter((_, index) => waits[index] === 0);
}

/** Takes the one slot that there is of one a minute. */
async function takeOnly(budget: RateBudget): Promise<void> {
  expect(await budget.claim('Deployment/busy/0')).toBe(0);
  await budget.end('Deployment/busy/0', true);
}

/** As after a minute in which nothing was reloaded. */
async function refill(): Promise<void> {
  await redis.client.del(key);
}

/** Who is given the next slots of one a minute, one after another; all of them ask each time. */
async function served(
  budget: RateBudget,
  asking: readonly WorkloadKey[],
  slots: number,
): Promise<WorkloadKey[]> {
  const left = new Set(asking);
  const order: WorkloadKey[] = [];
  for (let n = 0; n < slots; n += 1) {
    await refill();
    const given = await granted(budget, [...left]);
    for (const workload of given) {
      await budget.end(workload, true);
      left.delete(workload);
    }
    order.push(...given);
  }
  expect(order).toHaveLength(slots);
  return order;
}

async function keysLeft(): Promise<string[]> {
  return (await redis.client.keys(`${key}*`)).sort();
}

describe('the limit', () => {
  it.each([
    [60, 6],
    [100, 10],
    [9, 1],
    [1, 1],
  ])('of %d a minute lets %d through at once', async (perMinute, atOnce) => {
    const budget = new RateBudget(redis.client, key, perMinute);
    expect(await granted(budget, workloads('a', 50))).toHaveLength(atOnce);
  });

  it('says how long it takes until it is a workload’s turn', async () => {
    const budget = new RateBudget(redis.client, key, 6);
    expect(await budget.claim(FIRST)).toBe(0);
    const waits = [await budget.claim(SECOND), await budget.claim(THIRD)];
    expect(waits[0]).toBeGreaterThan(9_000);
    expect(waits[0]).toBeLessThanOrEqual(10_000);
    expect(waits[1]).toBeGreaterThan(19_000);
    expect(waits[1]).toBeLessThanOrEqual(20_000);
  });

  it('gives one slot after that time, and no more', async () => {
    const budget = new RateBudget(redis.client, key, 300);
    const asking = workloads('a', 100);
    const first = await granted(budget, asking);
    expect(first).toEqual(asking.slice(0, 30));
    const [next = FIRST] = asking.slice(30);
    await sleep(await budget.claim(next));
    const before = Date.now();
    expect((await granted(budget, asking.slice(30))).length).toBeLessThanOrEqual(
      2 + Math.floor((Date.now() - before) / 200),
    );
    expect(await budget.claim(next)).toBe(0);
  });

  it('is one for all workers together', async () => {
    const one = new RateBudget(redis.client, key, 60);
    const other = new RateBudget(redis.connect(), key, 60);
    const asking = workloads('a', 20);
    const both = await Promise.all([granted(one, asking.slice(0, 10)), granted(other, asking.slice(10))]);
    expect(both.flat()).toHaveLength(6);
  });

  it('asking again costs nothing, and brings nobody forward', async () => {
    const budget = new RateBudget(redis.client, key, 6);
    await granted(budget, workloads('a', 3));
    const wait = await budget.claim(THIRD);
    for (let n = 0; n < 20; n += 1) await granted(budget, [THIRD, SECOND]);
    expect(await budget.claim(SECOND)).toBeLessThanOrEqual(10_000);
    expect(await budget.claim(THIRD)).toBeGreaterThan(10_000);
    expect(await budget.claim(THIRD)).toBeLessThanOrEqual(wait);
  });

  it('lifted, gives whatever is asked for, without a call; set again, it counts again', async () => {
    const budget = new RateBudget(redis.client, key, 1);
    await granted(budget, workloads('a', 3));
    budget.setPerMinute(0);
    const before = await calls();
    expect(await granted(budget, workloads('a', 3))).toHaveLength(3);
    for (const workload of workloads('a', 3)) await budget.end(workload, true);
    expect(await calls()).toBe(before);
    budget.setPerMinute(1);
    expect(await budget.claim('Deployment/a/00002')).toBeGreaterThan(0);
  });

  it('raised while workloads wait counts for them when they ask again', async () => {
    const budget = new RateBudget(redis.client, key, 6);
    const asking = workloads('a', 5);
    await granted(budget, asking);
    const before = await budget.claim('Deployment/a/00004');
    budget.setPerMinute(60_000);
    // Its tokens come from the first claim on, one each millisecond.
    await budget.claim('Deployment/a/00004');
    await sleep(10);
    expect(await granted(budget, asking)).toEqual(asking);
    expect(before).toBeGreaterThan(20_000);
  });
});

describe('10,000 workloads of one namespace that wait', () => {
  const many = workloads('a', 10_000);
  const few = workloads('b', 5);

  it('hold up those of another for ten slots at most', async () => {
    const budget = new RateBudget(redis.client, key, 1);
    await takeOnly(budget);
    expect(await granted(budget, [...many, ...few])).toHaveLength(0);
    expect(await served(budget, [...many.slice(0, 10), ...few], 10)).toEqual(expect.arrayContaining(few));
  });

  it('are told to come at different times, none later than five minutes', async () => {
    const budget = new RateBudget(redis.client, key, 60);
    const waits = await Promise.all(many.map((workload) => budget.claim(workload)));
    expect(Math.max(...waits)).toBeLessThanOrEqual(300_000);
    const perSecond = new Map<number, number>();
    for (const wait of waits) {
      const second = Math.floor(wait / 1_000);
      perSecond.set(second, (perSecond.get(second) ?? 0) + 1);
    }
    // One a second for those whose turn that is, and 10,000 over 150 s for those who have to ask again.
    expect(Math.max(...perSecond.values())).toBeLessThanOrEqual(80);
  });

  it('take a few hundred bytes each, and leave nothing', async () => {
    const budget = new RateBudget(redis.client, key, 1);
    await granted(budget, many);
    let bytes = 0;
    for (const each of await keysLeft())
      bytes += Number(await redis.client.call('MEMORY', 'USAGE', each, 'SAMPLES', '0'));
    expect(bytes / many.length).toBeLessThan(400);
    await Promise.all(many.map((workload) => budget.end(workload, true)));
    expect(await keysLeft()).toEqual([key]);
  });
});

describe('the order', () => {
  it('within a namespace is that of coming', async () => {
    const budget = new RateBudget(redis.client, key, 1);
    await takeOnly(budget);
    const coming = workloads('a', 20).reverse();
    await granted(budget, coming);
    expect(await served(budget, workloads('a', 20), 20)).toEqual(coming);
  });

  it('between namespaces is round robin, whoever came first and however many they are', async () => {
    const budget = new RateBudget(redis.client, key, 1);
    await takeOnly(budget);
    const waiting = ['a', 'b', 'c', 'd'].flatMap((namespace, n) => workloads(namespace, 10 * (4 - n)));
    await granted(budget, waiting);
    const order = await served(budget, waiting, 40);
    expect(order.map((workload) => workload.split('/')[1]).join('')).toBe('abcd'.repeat(10));
  });

  it('gives a namespace that comes later its turn from then on, not those that it missed', async () => {
    const budget = new RateBudget(redis.client, key, 1);
    await takeOnly(budget);
    const [old, late] = [workloads('a', 40), workloads('b', 20)];
    await granted(budget, old);
    await served(budget, old, 20);
    await granted(budget, late);
    const order = await served(budget, [...old.slice(20), ...late], 20);
    expect(order.filter((workload) => late.includes(workload))).toHaveLength(10);
  });

  it('passes over those that do not come back', async () => {
    const budget = new RateBudget(redis.client, key, 1);
    await takeOnly(budget);
    const waiting = workloads('a', 100);
    await granted(budget, waiting);
    // Their deadlines have passed: nobody asks for them any more.
    for (const gone of waiting.slice(0, 60)) await redis.client.zadd(`${key}:deadlines`, 1, gone);
    await budget.claim('Deployment/a/00099');
    await budget.claim('Deployment/a/00099');
    expect(await served(budget, waiting.slice(60), 2)).toEqual(['Deployment/a/00060', 'Deployment/a/00061']);
  });
});

describe('a slot', () => {
  it('that was not used is given back, once', async () => {
    const budget = new RateBudget(redis.client, key, 6);
    expect(await granted(budget, workloads('a', 2))).toEqual(['Deployment/a/00000']);
    await budget.end('Deployment/a/00000', false);
    await budget.end('Deployment/a/00000', false);
    expect(await granted(budget, workloads('b', 2))).toEqual([]);
    expect(await granted(budget, workloads('a', 2))).toEqual(['Deployment/a/00001']);
    expect(await granted(budget, workloads('b', 2))).toEqual([]);
  });

  it('that was used is gone, and the next claim of the same workload takes another', async () => {
    const budget = new RateBudget(redis.client, key, 6);
    await budget.claim('Deployment/a/00000');
    await budget.end('Deployment/a/00000', true);
    expect(await budget.claim('Deployment/a/00000')).toBeGreaterThan(0);
  });

  it('is still held by a workload whose worker died, and by no other', async () => {
    const budget = new RateBudget(redis.client, key, 6);
    await granted(budget, workloads('a', 2));
    const other = new RateBudget(redis.connect(), key, 6);
    expect(await other.claim('Deployment/a/00000')).toBe(0);
    expect(await other.claim('Deployment/a/00001')).toBeGreaterThan(0);
  });

  it('that nobody comes for is lost alone', async () => {
    const budget = new RateBudget(redis.client, key, 1);
    const [lost = FIRST, ...rest] = workloads('a', 30);
    await budget.claim(lost);
    // As after a minute.
    await redis.client.zadd(`${key}:held`, 1, lost);
    expect(await granted(budget, rest)).toEqual([]);
    expect(await served(budget, rest, 5)).toEqual(rest.slice(0, 5));
  });

  it('is not given to whoever only asks', async () => {
    const budget = new RateBudget(redis.client, key, 6);
    expect(await budget.ask('Deployment/a/00000')).toBeUndefined();
    expect(await keysLeft()).toEqual([]);
    await granted(budget, workloads('a', 2));
    expect(await budget.ask('Deployment/a/00000')).toBe(0);
    expect(await budget.ask('Deployment/a/00001')).toBeGreaterThan(0);
  });

  it('of a workload that gives up its place goes to the next', async () => {
    const budget = new RateBudget(redis.client, key, 6);
    await granted(budget, workloads('a', 3));
    await budget.end('Deployment/a/00001', false);
    expect(await budget.claim('Deployment/a/00002')).toBeLessThanOrEqual(10_000);
  });
});

it('no key stays for ever', async () => {
  const budget = new RateBudget(redis.client, key, 60);
  await granted(budget, workloads('a', 20));
  expect(await keysLeft()).toHaveLength(5);
  for (const each of await keysLeft()) expect(await redis.client.pttl(each)).toBeGreaterThan(0);
});

/** Scripts that were run. */
async function calls(): Promise<number> {
  const text = await redis.client.info('commandstats');
  const all = text.matchAll(/cmdstat_eval(?:sha)?:calls=([0-9]+)/gu);
  return [...all].reduce((sum, [, count]) => sum + Number(count), 0);
}
