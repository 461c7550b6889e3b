import type { RedisClient } from '@reroll/redis/connection/redis';

/** Every key of the database with all that it holds, as text; throws for a type that it does not know. */
export async function dumpRedis(redis: RedisClient): Promise<string> {
  const keys = (await redis.keys('*')).sort();
  const parts = await Promise.all(
    keys.map(async (key) => `${key}\n${JSON.stringify(await valueOf(redis, key))}`),
  );
  return parts.join('\n');
}

async function valueOf(redis: RedisClient, key: string): Promise<unknown> {
  const type = await redis.type(key);
  switch (type) {
    case 'string':
      return await redis.get(key);
    case 'hash':
      return await redis.hgetall(key);
    case 'list':
      return await redis.lrange(key, 0, -1);
    case 'set':
      return await redis.smembers(key);
    case 'zset':
      return await redis.zrange(key, '0', '-1', 'WITHSCORES');
    case 'stream':
      return await redis.xrange(key, '-', '+');
    case 'none':
      return null; // it expired meanwhile
    default:
      throw new Error(`expected a known type of Redis key, given ${type}`);
  }
}
