import { Worker } from 'bullmq';
import { describe, expect, it } from 'vitest';
import { useRealRedis } from '../testing/real-redis.ts';
import { reconnectDelay } from './reconnect-delay.ts';
import { openForWaiting, openRedis } from './redis.ts';

const redis = useRealRedis();

const silent = { onDown: () => undefined, onUp: () => undefined };

describe('a connection', () => {
  it('tells that it is up, and why it is down, without the address', async () => {
    const told: string[] = [];
    const hooks = { onDown: (reason: string) => told.push(reason), onUp: () => told.push('up') };
    const up = openRedis({ redisUrl: redis.url }, hooks);
    expect(await up.ping()).toBe('PONG');
    up.disconnect();
    const down = openRedis({ redisUrl: 'redis://:secret@127.0.0.1:1' }, hooks);
    await expect.poll(() => told).toContain('ECONNREFUSED');
    down.disconnect();
    expect(told[0]).toBe('up');
    expect(told.join()).not.toMatch(/secret|127/);
  });

  it('for those who wait for jobs has a later deadline than the longest wait', async () => {
    const connection = openRedis({ redisUrl: redis.url }, silent);
    const waiting = openForWaiting(connection);
    const worker = new Worker('q', null, { connection: waiting, prefix: '{spec}', autorun: false });
    const longestWait = (worker as unknown as { maximumBlockTimeout: number }).maximumBlockTimeout;
    expect(longestWait).toBeGreaterThan(0);
    expect(waiting.options).toHaveProperty(
      'commandTimeout',
      expect.toSatisfy((ms: number) => ms > longestWait * 1_000),
    );
    await worker.close();
    waiting.disconnect();
    connection.disconnect();
  });
});

describe('the pause before an attempt to connect', () => {
  it.each([1, 2, 5, 100, 10_000])('%i is between a moment and two seconds', (attempt) => {
    const delay = reconnectDelay(attempt);
    expect(delay).toBeGreaterThan(50);
    expect(delay).toBeLessThanOrEqual(2_000);
  });
});
