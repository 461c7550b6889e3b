import { RedisRoom } from '@reroll/redis/connection/redis-room';
import { Processes } from '@reroll/redis/processes/processes';
import { useRealRedis } from '@reroll/redis/testing/real-redis';
import { createLogger } from '@reroll/shared/platform/logging/logging';
import { redisMetrics } from '@reroll/shared/platform/metrics/shared';
import { createRegistry } from '@reroll/shared/platform/metrics/registry';
import { redisReports } from '@reroll/shared/platform/process/redis-reports';
import { Redis } from 'ioredis';
import { expect, it, onTestFinished, vi } from 'vitest';
import { Heartbeats } from './heartbeats.ts';
import type { Process } from './process.ts';

const redis = useRealRedis();

/** Heartbeats of a process that is connected. */
function beat(client: Redis) {
  const lines: string[] = [];
  const registry = createRegistry();
  const metrics = redisMetrics(registry);
  const log = createLogger({ format: 'json', level: 'info', sink: { write: (line) => lines.push(line) } });
  const reports = redisReports(log, metrics);
  reports.onUp();
  const process = {
    options: { podName: 'worker-1' },
    registry,
    log,
    lifecycle: { onStop: (_what: string, _limit: number, stop: () => void) => onTestFinished(stop) },
  } as unknown as Process;
  const keys = redis.freshKeys();
  const room = new RedisRoom({
    redis: client,
    keys,
    trims: () => false,
    onRoom: () => undefined,
    onError: (error) => expect.unreachable(String(error)),
  });
  const processes = new Processes(client, keys);
  new Heartbeats({ process, processes, room, reports }).start(() => ({ app: 'worker' }));
  return { lines, reports, up: async () => (await metrics.redisUp.get()).values[0]?.value };
}

const ALL = ['~*', '+@all'];
/** The queue of reloads is missing. */
const OTHER_KEYS = ['changes', 'resumes', 'notifications', 'v1'].map((part) => `~*}:${part}:*`);

async function withUser(...rules: readonly string[]): Promise<Redis> {
  await redis.client.acl('SETUSER', 'narrow', 'reset', 'on', 'nopass', ...rules);
  const narrow = redis.connect();
  await narrow.auth('narrow', '');
  return narrow;
}

const REFUSALS: readonly (readonly [
  code: string,
  refuse: () => Promise<Redis>,
  accept: () => Promise<unknown>,
])[] = [
  ['NOPERM', () => withUser(...ALL, '-hset'), () => redis.client.acl('SETUSER', 'narrow', '+hset')],
  [
    'NOPERM',
    () => withUser('%R~*', '+@all', ...OTHER_KEYS),
    () => redis.client.acl('SETUSER', 'narrow', '~*}:reloads:*'),
  ],
  [
    'NOREPLICAS',
    async () => {
      await redis.client.config('SET', 'min-replicas-to-write', '1');
      return redis.client;
    },
    () => redis.client.config('SET', 'min-replicas-to-write', '0'),
  ],
  [
    'MISCONF',
    async () => {
      await redis.failToSave();
      return redis.client;
    },
    () => redis.client.config('SET', 'stop-writes-on-bgsave-error', 'no'),
  ],
];

it.each(REFUSALS)(
  'a Redis that refuses writes with %s is down, and up once it takes them',
  async (code, refuse, accept) => {
    const client = await refuse();
    const { up, lines, reports } = beat(client);
    await vi.waitFor(async () => expect(await up()).toBe(0));
    // As after each connection that a replica ends because of a write.
    reports.onUp();
    expect(await up()).toBe(0);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ msg: 'heartbeat failed, retrying', code });
    expect(lines.join()).not.toMatch(/permissions|replicas|snapshots/u);
    await accept();
    await vi.waitFor(async () => expect(await up()).toBe(1), { timeout: 30_000 });
  },
);

it('a Redis that does not answer is down', async () => {
  const client = new Redis(redis.url, { commandTimeout: 100 });
  onTestFinished(() => client.disconnect());
  await client.time();
  await redis.client.call('CLIENT', 'PAUSE', '2000', 'ALL');
  const { up } = beat(client);
  await vi.waitFor(async () => expect(await up()).toBe(0), { timeout: 30_000 });
});
