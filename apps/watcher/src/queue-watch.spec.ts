import { Notifications } from '@reroll/redis/queue/notifications';
import { Queues } from '@reroll/redis/queue/queues';
import { useRealRedis } from '@reroll/redis/testing/real-redis';
import { connectAs, REDIS_USERS } from '@reroll/redis/testing/redis-users';
import { silentLogger } from '@reroll/shared/platform/logging/logging';
import { createRegistry } from '@reroll/shared/platform/metrics/registry';
import { watcherMetrics } from '@reroll/shared/platform/metrics/watcher';
import type { RedisClient } from '@reroll/redis/connection/redis';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { watchQueues } from './queue-watch.ts';

const redis = useRealRedis();
const RETRIES = { attempts: 1, backoff: 1_000 };
let prefix: string;

beforeEach(() => {
  ({ prefix } = redis.freshKeys());
});

function queuesWith(debounce: number, connection: RedisClient = redis.client): Queues {
  const queues = new Queues({ connection, prefix, debounce, ...RETRIES });
  onTestFinished(() => queues.close());
  return queues;
}

/** With the rights of a watcher. Returns the series of queues that there are. */
async function watch(): Promise<() => Promise<string[]>> {
  const connection = await connectAs(redis, REDIS_USERS.watcher);
  const registry = createRegistry();
  watchQueues({
    queues: queuesWith(0, connection),
    metrics: watcherMetrics(registry),
    lifecycle: { onStop: (_what: string, _limit: number, stop: () => void) => onTestFinished(stop) } as never,
    log: silentLogger,
  });
  return async () => {
    const lines = (await registry.metrics()).split('\n');
    return lines.filter((line) => /^reroll_queue_|^reloader_workqueue_depth/u.test(line));
  };
}

it('a job that is delayed counts in the depth of the queues, and not among those that are ready to run', async () => {
  await queuesWith(0).enqueueReloads([{ workload: 'Deployment/a/web', since: 0 }]);
  await queuesWith(60_000).enqueueReloads([{ workload: 'Deployment/a/held', since: 0 }]);
  const series = await watch();
  await vi.waitFor(async () => expect(await series()).toContain('reloader_workqueue_depth 2'));
  expect(await series()).toContain('reroll_queue_ready_jobs{queue="reloads"} 1');
  expect(await series()).toContain('reroll_queue_ready_jobs{queue="changes"} 0');
});

it('notifications are measured too, and are no part of the depth', async () => {
  const notifications = new Notifications({ connection: redis.client as RedisClient, prefix, ...RETRIES });
  onTestFinished(() => notifications.close());
  await notifications.enqueueWebhook('ConfigMap/a/settings', 'update');
  const series = await watch();
  await vi.waitFor(async () =>
    expect(await series()).toContain('reroll_queue_ready_jobs{queue="notifications"} 1'),
  );
  expect(await series()).toContain('reloader_workqueue_depth 0');
});

it('what can no longer be measured has no figures, until it can be measured again', async () => {
  vi.useFakeTimers({ toFake: ['setInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  await queuesWith(0).enqueueReloads([{ workload: 'Deployment/a/web', since: 0 }]);
  const series = await watch();
  await vi.waitFor(async () => expect(await series()).toContain('reloader_workqueue_depth 1'));
  const key = `${prefix}:resumes:wait`;
  await redis.client.set(key, 'no list');
  vi.advanceTimersByTime(15_000);
  await vi.waitFor(async () => expect(await series()).toEqual([]));
  await redis.client.del(key);
  vi.advanceTimersByTime(15_000);
  await vi.waitFor(async () => expect(await series()).toContain('reloader_workqueue_depth 1'));
});
