import { expect, it, onTestFinished, vi } from 'vitest';
import { useRealRedis } from '../testing/real-redis.ts';
import { whenReachable } from './when-reachable.ts';

const redis = useRealRedis();

const REFUSALS: readonly (readonly [
  code: string,
  refuse: () => Promise<unknown>,
  accept: () => Promise<unknown>,
])[] = [
  [
    'NOREPLICAS',
    () => redis.client.config('SET', 'min-replicas-to-write', '1'),
    () => redis.client.config('SET', 'min-replicas-to-write', '0'),
  ],
  [
    'MISCONF',
    () => redis.failToSave(),
    () => redis.client.config('SET', 'stop-writes-on-bgsave-error', 'no'),
  ],
];

it.each(REFUSALS)('a start waits for a Redis that refuses writes with %s', async (code, refuse, accept) => {
  await refuse();
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const seen: string[] = [];
  const hooks = { onDown: (reason: string) => seen.push(reason), onUp: () => seen.push('up') };
  const claimed = whenReachable(() => redis.client.set('claim', 'uid'), {
    signal: stop.signal,
    hooks,
  });
  await vi.waitFor(() => expect(seen).toContain(code));
  await accept();
  expect(await claimed).toBe('OK');
  expect(seen.at(-1)).toBe('up');
});
