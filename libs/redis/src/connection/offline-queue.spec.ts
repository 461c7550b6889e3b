import type { Cluster, Redis } from 'ioredis';
import { expect, it, onTestFinished } from 'vitest';
import { RedisCluster } from './redis-cluster.ts';
import { RedisSecrets } from './redis-secrets.ts';
import { RedisServer } from './redis-server.ts';

const NOBODY = { host: '127.0.0.1', port: 1 };
const OPTIONS = { commandTimeout: 20, maxRetriesPerRequest: null };
const SECRETS = new RedisSecrets({});
const ROUND = 20;

it.each<[string, () => Redis | Cluster]>([
  ['server', () => new RedisServer({ ...NOBODY, ...OPTIONS }, SECRETS)],
  ['Cluster', () => new RedisCluster([NOBODY], OPTIONS, SECRETS)],
])('while its %s is away, a client keeps no commands that have failed', async (_what, open) => {
  const client = open();
  onTestFinished(() => client.disconnect());
  client.on('error', () => undefined);
  for (let round = 0; round < 5; round += 1) {
    const sent = Array.from({ length: ROUND }, async (_, at) => await client.set(`key-${at}`, 'value'));
    expect((await Promise.allSettled(sent)).map(({ status }) => status)).toEqual(
      Array<string>(ROUND).fill('rejected'),
    );
  }
  const { offlineQueue } = client as unknown as { offlineQueue: { readonly length: number } };
  expect(offlineQueue.length).toBeGreaterThan(0);
  expect(offlineQueue.length).toBeLessThanOrEqual(ROUND);
});
