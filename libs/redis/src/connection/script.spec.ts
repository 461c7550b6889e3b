import { beforeEach, expect, it } from 'vitest';
import { useRealRedis } from '../testing/real-redis.ts';
import { openRedis } from './redis.ts';
import { Script } from './script.ts';

const redis = useRealRedis();
const ADD = new Script(`return redis.call('INCRBY', KEYS[1], ARGV[1])`);
let key: string;

beforeEach(async () => {
  key = redis.freshKeys().budget;
  await redis.client.config('RESETSTAT');
});

async function calls(command: 'eval' | 'evalsha'): Promise<number> {
  const text = await redis.client.info('commandstats');
  return Number(new RegExp(`cmdstat_${command}:calls=([0-9]+)`, 'u').exec(text)?.[1] ?? 0);
}

it('sends the text of a script once for each connection, and then its digest', async () => {
  const client = redis.client.duplicate();
  for (let n = 1; n <= 5; n++) expect(await ADD.run(client, [key], [2])).toBe(2 * n);
  await client.quit();
  expect([await calls('eval'), await calls('evalsha')]).toEqual([1, 4]);
});

it('sends the text again to a server that has forgotten it, and runs the script once', async () => {
  await ADD.run(redis.client, [key], [1]);
  await redis.client.script('FLUSH');
  expect(await Promise.all([1, 2, 3].map(() => ADD.run(redis.client, [key], [1])))).toEqual([2, 3, 4]);
});

it('copies no script into a pipeline, but runs it there', async () => {
  const client = openRedis({ redisUrl: redis.url }, { onDown: () => undefined, onUp: () => undefined });
  const properties = Object.getOwnPropertyNames(client.pipeline());
  client.defineCommand('get:1', { lua: `return redis.call('GET', KEYS[1])`, numberOfKeys: 1 });
  await ADD.run(client, [key], [3]);
  const pipeline = client.pipeline();
  expect(Object.getOwnPropertyNames(pipeline)).toEqual(properties);
  const run = Reflect.get(pipeline, 'get:1') as (this: unknown, key: string) => typeof pipeline;
  expect(await run.call(pipeline, key).exec()).toEqual([[null, '3']]);
  await client.quit();
});
