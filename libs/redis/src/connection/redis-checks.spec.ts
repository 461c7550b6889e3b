import { describe, expect, it } from 'vitest';
import { useRealRedis } from '../testing/real-redis.ts';
import { checkServers } from './redis-checks.ts';
import type { RedisClient } from './redis.ts';

const redis = useRealRedis();

const hooks = { onDown: () => undefined, onUp: () => undefined };
const { signal } = new AbortController();

async function evicting(server: RedisClient): Promise<string[]> {
  const told: string[] = [];
  expect(await checkServers(server, { signal, hooks }, (policy) => told.push(policy))).toBe(true);
  return told;
}

/** A server that answers INFO with these lines. */
function saying(...lines: readonly string[]): RedisClient {
  const info = (): Promise<string> => Promise.resolve(lines.join('\r\n'));
  return { isCluster: false, info } as unknown as RedisClient;
}

describe('the look at the server', () => {
  it('finds nothing to tell of one that is as it should be', async () => {
    expect(await evicting(redis.client)).toEqual([]);
  });

  it('tells of a policy that drops jobs', async () => {
    await redis.client.config('SET', 'maxmemory-policy', 'allkeys-lru');
    expect(await evicting(redis.client)).toEqual(['allkeys-lru']);
  });

  it.each(['6.2.0', '6.10.1', '7.0.15', '10.0.0'])('accepts Redis %s', async (version) => {
    expect(await evicting(saying(`redis_version:${version}`))).toEqual([]);
  });

  it.each(['5.0.14', '6.0.16', '6.1.240'])('refuses Redis %s, and says what is expected', async (version) => {
    const checked = checkServers(saying(`redis_version:${version}`), { signal, hooks }, () => undefined);
    await expect(checked).rejects.toThrow(`expected Redis 6.2 or later, found ${version}`);
    await expect(checked).rejects.toMatchObject({ code: 'REDIS_TOO_OLD' });
  });

  it('takes what a managed one keeps to itself to be right', async () => {
    expect(await evicting(saying('# Server'))).toEqual([]);
  });

  it('ends when it is to end', async () => {
    const ended = { signal: AbortSignal.abort(), hooks };
    expect(await checkServers(redis.client, ended, () => undefined)).toBe(false);
  });
});
