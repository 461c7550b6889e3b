import { once } from 'node:events';
import type { Cluster, Redis } from 'ioredis';
import { expect, it, onTestFinished, vi } from 'vitest';
import { RealRedis } from '../testing/real-redis.ts';
import { openRedis } from './redis.ts';
import { RedisCluster } from './redis-cluster.ts';
import { RedisSecrets } from './redis-secrets.ts';

const HOOKS = { onDown: () => undefined, onUp: () => undefined };

async function serverThatLeft(): Promise<Redis | Cluster> {
  const redis = new RealRedis();
  await redis.start();
  const client = openRedis({ redisUrl: redis.url }, HOOKS);
  await client.ping();
  const left = once(client, 'reconnecting');
  await redis.stop();
  await left;
  return client;
}

async function clusterThatIsAway(): Promise<Redis | Cluster> {
  const client = new RedisCluster(
    [{ host: '127.0.0.1', port: 1 }],
    { commandTimeout: 10_000 },
    new RedisSecrets({}),
  );
  client.on('error', () => undefined);
  await new Promise((resolve) => client.once('reconnecting', resolve));
  return client;
}

it.each([
  ['Redis', serverThatLeft],
  ['a Cluster', clusterThatIsAway],
])(
  'a client of %s that is away disconnects at once: no command waits, and no timer keeps the process alive',
  async (_what, open) => {
    const client = await open();
    const waits = client.get('key');
    const setTimer = vi.spyOn(globalThis, 'setTimeout');
    onTestFinished(() => setTimer.mockRestore());
    client.disconnect();
    await expect(waits).rejects.toThrow(/closed|available/u);
    expect(client.status).toBe('end');
    client.disconnect();
    expect(client.status).toBe('end');
    expect(setTimer).not.toHaveBeenCalled();
  },
);
