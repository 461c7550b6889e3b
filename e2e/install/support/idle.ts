import { Redis } from 'ioredis';
import { catalogKeys } from '@reroll/redis/catalog/keys';
import { Queues } from '@reroll/redis/queue/queues';
import { eventually } from '../../support/wait.ts';
import { reach } from './reach.ts';
import type { Release } from './release.ts';

/** Resolves when no job waits, is delayed or at work in the release's own Redis. */
export async function idle(release: Release): Promise<void> {
  const data = (await release.space.get(`Secret/${release.name}-redis`)).data ?? {};
  const password = Buffer.from(data['worker-password'] ?? '', 'base64').toString();
  await reach(release, { component: 'redis', port: 6379 }, async (port) => {
    const redis = new Redis({ port, username: 'reroll-worker', password, maxRetriesPerRequest: null });
    const names = { cluster: release.name, namespace: release.space.name, lease: `${release.name}-watcher` };
    const { prefix } = catalogKeys(names);
    const queues = new Queues({ connection: redis, prefix, debounce: 0, attempts: 5, backoff: 1_000 });
    try {
      await eventually(async () => (await jobs(queues)) === 0, {
        what: 'the queues to be empty',
        within: 60_000,
      });
    } finally {
      await queues.close();
      redis.disconnect();
    }
  });
}

async function jobs(queues: Queues): Promise<number> {
  const each = await Promise.all(
    [queues.changes, queues.reloads].map((queue) =>
      queue.getJobCounts('wait', 'active', 'delayed', 'prioritized'),
    ),
  );
  return each.flatMap((count) => Object.values(count)).reduce((sum, count) => sum + count, 0);
}

/** Resolves when the leader has resynced so many times more. A pod that was ready a moment ago may be gone when it is asked. */
export async function resyncs(
  release: Release,
  more: number,
  component: 'watcher' | 'standalone' = 'watcher',
): Promise<void> {
  const waiting = { what: 'resyncs', within: 60_000 };
  const first = await eventually(() => resynced(release, component), waiting);
  await eventually(async () => (await resynced(release, component)) >= first + more, waiting);
}

async function resynced(release: Release, component: 'watcher' | 'standalone'): Promise<number> {
  const watchers = await release.readyPods(component);
  const counts = watchers.map((_pod, index) =>
    reach(release, { component, port: 9090, index }, async (port) => {
      const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
      return Number(/^reroll_sweep_duration_seconds_count (\d+)/m.exec(text)?.[1] ?? 0);
    }),
  );
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}
