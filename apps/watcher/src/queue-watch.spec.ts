import { Queues } from '@reroll/redis/queue/queues';
import { useRealRedis } from '@reroll/redis/testing/real-redis';
import { silentLogger } from '@reroll/shared/platform/logging/logging';
import { createRegistry } from '@reroll/shared/platform/metrics/registry';
import { watcherMetrics } from '@reroll/shared/platform/metrics/watcher';
import { expect, it, onTestFinished, vi } from 'vitest';
import { watchQueues } from './queue-watch.ts';

const redis = useRealRedis();

it('a job that is delayed counts in the depth of the queues, and not among those that are ready to run', async () => {
  const { prefix } = redis.freshKeys();
  const queuesWith = (debounce: number): Queues => {
    const connection = redis.client;
    const queues = new Queues({ connection, prefix, debounce, attempts: 1, backoff: 1_000 });
    onTestFinished(() => queues.close());
    return queues;
  };
  const queues = queuesWith(0);
  await queues.enqueueReloads([{ workload: 'Deployment/a/web', since: 0 }]);
  await queuesWith(60_000).enqueueReloads([{ workload: 'Deployment/a/held', since: 0 }]);
  const registry = createRegistry();
  watchQueues({
    queues,
    metrics: watcherMetrics(registry),
    lifecycle: { onStop: (_what: string, _limit: number, stop: () => void) => onTestFinished(stop) } as never,
    log: silentLogger,
  });
  await vi.waitFor(async () => expect(await registry.metrics()).toContain('reloader_workqueue_depth 2'));
  const text = await registry.metrics();
  expect(text).toContain('reroll_queue_ready_jobs{queue="reloads"} 1');
  expect(text).toContain('reroll_queue_ready_jobs{queue="changes"} 0');
});
