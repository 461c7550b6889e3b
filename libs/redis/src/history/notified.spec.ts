import { expect, it } from 'vitest';
import { useRealRedis } from '../testing/real-redis.ts';
import { Notified } from './notified.ts';

const SOURCE = 'ConfigMap/shop/settings';
const HOUR = 3_600;

const redis = useRealRedis();

it('the last state of each source is kept for longer than jobs are repeated, and no longer than two hours', async () => {
  const prefix = redis.freshKeys().announced;
  const notified = new Notified(redis.client, prefix);
  await notified.put(SOURCE, 'a');
  await notified.put(SOURCE, 'b');
  expect(await notified.last(SOURCE)).toBe('b');
  expect(await notified.last('ConfigMap/shop/other')).toBeNull();
  const left = await redis.client.ttl(prefix + SOURCE);
  expect(left).toBeGreaterThan(1.5 * HOUR);
  expect(left).toBeLessThanOrEqual(2 * HOUR);
});
