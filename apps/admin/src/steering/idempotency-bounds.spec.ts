import type { CatalogKeys } from '@reroll/redis/catalog/keys';
import { silentLogger } from '@reroll/shared/platform/logging/logging';
import { connectAs, REDIS_USERS } from '@reroll/redis/testing/redis-users';
import { useRealRedis } from '@reroll/redis/testing/real-redis';
import { beforeEach, describe, expect, it } from 'vitest';
import { Idempotency } from './idempotency.ts';

const MOST = { ofCaller: 10, ofAll: 25 };

const redis = useRealRedis();
let keys: CatalogKeys;
let idempotency: Idempotency;
/** How often each key's write was done. */
let done: Map<string, number>;

beforeEach(async () => {
  keys = redis.freshKeys();
  const client = await connectAs(redis, REDIS_USERS.admin);
  idempotency = new Idempotency(client, keys, { log: silentLogger, most: MOST });
  done = new Map();
});

async function write(actor: string, key: string, answer = 'done'): Promise<string> {
  const name = `${actor} ${key}`;
  const run = async (): Promise<void> => void done.set(name, (done.get(name) ?? 0) + 1);
  return await idempotency.once(
    { actor, key, request: 'POST /x', requestId: 'r' },
    { run, answer: async () => answer },
  );
}

async function writeMany(actor: string, count: number, from = 0): Promise<void> {
  for (let n = from; n < from + count; n += 1) await write(actor, String(n));
}

async function kept(): Promise<number> {
  return (await redis.client.keys(`${keys.idempotency}*`)).length;
}

describe('what is kept of writes', () => {
  it('of one caller are the latest answers, and those of others stay', async () => {
    await write('bob', 'b');
    await writeMany('ann', 40);
    expect(await kept()).toBe(MOST.ofCaller + 1);
    await write('bob', 'b');
    await write('ann', '39');
    expect([done.get('bob b'), done.get('ann 39')]).toEqual([1, 1]);
    await write('ann', '29');
    expect(done.get('ann 29')).toBe(2);
    expect(await redis.client.zcard(`${keys.idempotencyOf}all`)).toBe(MOST.ofCaller + 1);
  });

  it('of the service accounts of one namespace is as much as of one caller', async () => {
    for (let n = 0; n < 40; n += 1) await write(`system:serviceaccount:shop:s${n}`, 'k');
    expect(await kept()).toBe(MOST.ofCaller);
  });

  it('of all callers are the latest answers', async () => {
    for (let n = 0; n < 40; n += 1) await write(`user${n}`, 'k');
    expect(await kept()).toBe(MOST.ofAll);
    await write('user15', 'k');
    await write('user39', 'k');
    expect([done.get('user15 k'), done.get('user39 k')]).toEqual([1, 1]);
    await write('user14', 'k');
    expect(done.get('user14 k')).toBe(2);
  });

  it('is less of long answers, and nothing of one that is longer than all of them may be', async () => {
    await writeMany('ann', 8);
    await write('ann', 'long', 'x'.repeat(4_900));
    expect(await kept()).toBe(6);
    await write('ann', 'longer', 'x'.repeat(20_000));
    expect(await kept()).toBe(0);
    await write('ann', 'longer', 'x'.repeat(20_000));
    expect(done.get('ann longer')).toBe(2);
  });

  it('drops no write that is under way, though its key has a place that is left of an old answer', async () => {
    await writeMany('ann', MOST.ofCaller);
    const oldest = (await redis.client.zrange(`${keys.idempotencyOf}all`, '0', '0'))[0] ?? '';
    await redis.client.set(oldest, JSON.stringify({ request: 'r', by: 'r' }));
    await write('ann', 'another');
    expect(await redis.client.exists(oldest)).toBe(1);
  });

  it('goes after a day', async () => {
    await write('ann', 'k');
    const names = await redis.client.keys(`${keys.prefix}:*`);
    const ttls = await Promise.all(names.map((name) => redis.client.ttl(name)));
    expect(names).toHaveLength(3);
    for (const ttl of ttls) expect(ttl).toBeGreaterThan(86_000);
  });
});
