import { beforeEach, describe, expect, it } from 'vitest';
import { useRealRedis } from '../testing/real-redis.ts';
import { RuntimeLimits } from './limits.ts';

const redis = useRealRedis();
let key: string;
let limits: RuntimeLimits;

beforeEach(() => {
  key = redis.freshKeys().limits;
  limits = new RuntimeLimits(redis.client, key);
});

describe('limits at run time', () => {
  it('are those that were set, one by one, until they are taken away', async () => {
    expect(await limits.get()).toEqual({});
    await limits.set({ concurrency: 3 });
    await limits.set({ reloadsPerMinute: 0 });
    expect(await limits.get()).toEqual({ concurrency: 3, reloadsPerMinute: 0 });
    await limits.set({ concurrency: null });
    expect(await limits.get()).toEqual({ reloadsPerMinute: 0 });
  });

  it('that are out of range are refused, with what was expected', async () => {
    await expect(limits.set({ concurrency: 0 })).rejects.toThrow(
      'concurrency: expected a whole number from 1 to 1000, given 0',
    );
    expect(await limits.get()).toEqual({});
  });

  it.each(['', 'many', '0', '1.5', '1001', '-1', '1e2'])(
    'that read %j in Redis count as absent',
    async (text) => {
      await redis.client.hset(key, { concurrency: text, reloadsPerMinute: '5' });
      expect(await limits.get()).toEqual({ reloadsPerMinute: 5 });
    },
  );
});
