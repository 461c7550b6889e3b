import type { RedisClient } from '@reroll/redis/connection/redis';
import { Redis } from 'ioredis';
import { createLogger, silentLogger } from '@reroll/shared/platform/logging/logging';
import { createRegistry } from '@reroll/shared/platform/metrics/registry';
import { workerMetrics } from '@reroll/shared/platform/metrics/worker';
import { reloadJob, type ReloadJob } from '@reroll/redis/queue/jobs';
import { Queues, RELOADS } from '@reroll/redis/queue/queues';
import { expect, it, onTestFinished, vi } from 'vitest';
import { useRealRedis } from '@reroll/redis/testing/real-redis';
import { NotYetError } from './job-error.ts';
import { Activity, runQueue, type JobObservers } from './queue-runner.ts';

const JOBS = 50;
const RETURNS = 10;

const redis = useRealRedis();

function observers(
  onEnd: JobObservers['onEnd'] = (_, error) => expect.unreachable(String(error)),
  log = silentLogger,
): JobObservers {
  return {
    metrics: workerMetrics(createRegistry()),
    log,
    activity: new Activity(),
    onEnd,
  };
}

/** Calls by clients: scripts, and waits for jobs. */
async function calls(): Promise<number> {
  const text = await redis.client.info('commandstats');
  const counts = [...text.matchAll(/cmdstat_(?:eval|evalsha|bzpopmin):calls=([0-9]+)/gu)];
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}

it('a job that waits for its turn costs a few calls of Redis each time that it returns, and no attempt', async () => {
  const { prefix } = redis.freshKeys();
  const connection = redis.client as RedisClient;
  const queues = new Queues({ connection, prefix, debounce: 0, attempts: 2, backoff: 1_000 });
  const seen = new Map<string, number>();
  const attempts = new Set<number>();
  const worker = runQueue<ReloadJob>(
    {
      queue: RELOADS,
      schema: reloadJob,
      handle: async ({ workload }, { number }) => {
        const times = (seen.get(workload) ?? 0) + 1;
        seen.set(workload, times);
        attempts.add(number);
        if (times <= RETURNS) throw new NotYetError('RateLimited', 20);
      },
      failed: () => Promise.reject(new Error('no job fails')),
    },
    { connection: redis.connect(), prefix, concurrency: 10, lockDuration: 30_000 },
    observers(),
  );
  try {
    const before = await calls();
    await queues.enqueueReloads(
      Array.from({ length: JOBS }, (_, n) => ({ workload: `Deployment/a/${n}`, since: 0 })),
    );
    const isDone = (): boolean =>
      seen.size === JOBS && [...seen.values()].every((times) => times === RETURNS + 1);
    await vi.waitUntil(isDone, { timeout: 60_000, interval: 20 });
    expect((await calls()) - before).toBeLessThanOrEqual(4 * JOBS * (RETURNS + 1));
    expect(attempts).toEqual(new Set([1]));
  } finally {
    await worker.close();
    await queues.close();
  }
});

it('of an error of others, Redis is told neither message nor stack', async () => {
  const { prefix } = redis.freshKeys();
  const connection = redis.client as RedisClient;
  const queues = new Queues({ connection, prefix, debounce: 0, attempts: 1, backoff: 1_000 });
  const worker = runQueue<ReloadJob>(
    {
      queue: RELOADS,
      schema: reloadJob,
      handle: () => Promise.reject(new TypeError('hunter2')),
      failed: () => Promise.resolve(),
    },
    { connection: redis.connect(), prefix, concurrency: 1, lockDuration: 30_000 },
    observers(),
  );
  try {
    await queues.enqueueReloads([{ workload: 'Deployment/a/w', since: 0 }]);
    await vi.waitUntil(async () => (await queues.reloads.getFailedCount()) > 0, {
      timeout: 60_000,
      interval: 20,
    });
    const [job] = await queues.reloads.getFailed();
    expect(job?.failedReason).toBe('Failed: TypeError');
    expect(JSON.stringify(job)).not.toContain('hunter2');
  } finally {
    await worker.close();
    await queues.close();
  }
});

it('a job that cannot be read fails once, is counted, and the log says what was expected, without its data', async () => {
  const { prefix } = redis.freshKeys();
  const connection = redis.client as RedisClient;
  const queues = new Queues({ connection, prefix, debounce: 0, attempts: 3, backoff: 1 });
  const lines: string[] = [];
  const log = createLogger({ format: 'json', level: 'error', sink: { write: (line) => lines.push(line) } });
  const seen = observers(undefined, log);
  const worker = runQueue<ReloadJob>(
    {
      queue: RELOADS,
      schema: reloadJob,
      handle: () => Promise.reject(new Error('it has no payload')),
      failed: () => Promise.reject(new Error('it has no payload')),
    },
    { connection: redis.connect(), prefix, concurrency: 1, lockDuration: 30_000 },
    seen,
  );
  try {
    const { id } = await queues.reloads.add(RELOADS, { v: 1, workload: 'hunter2', since: 0 } as never);
    await vi.waitUntil(async () => (await queues.reloads.getFailedCount()) > 0, { timeout: 60_000 });
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      expect.objectContaining({
        level: 'error',
        msg: expect.stringMatching(/^a job could not be read: InvalidJob: workload: ./u) as string,
        queue: RELOADS,
        job: id,
      }),
    ]);
    expect(lines.join()).not.toContain('hunter2');
    const { values } = await seen.metrics.jobs.get();
    expect(values).toContainEqual({ labels: { queue: RELOADS, result: 'invalid' }, value: 1 });
    expect((await seen.metrics.outcomes.get()).values).toEqual([
      { labels: { reason: 'InvalidJob' }, value: 1 },
    ]);
  } finally {
    await worker.close();
    await queues.close();
  }
});

it('reports that it cannot take jobs if Redis does not say in time which version it is', async () => {
  const { prefix } = redis.freshKeys();
  const connection = new Redis(redis.url, { maxRetriesPerRequest: null, commandTimeout: 100 });
  onTestFinished(() => connection.disconnect());
  await connection.ping();
  const ended = vi.fn();
  await redis.client.call('CLIENT', 'PAUSE', '500', 'ALL');
  const worker = runQueue<ReloadJob>(
    { queue: RELOADS, schema: reloadJob, handle: () => Promise.resolve(), failed: () => Promise.resolve() },
    { connection, prefix, concurrency: 1, lockDuration: 30_000 },
    observers(ended),
  );
  try {
    await vi.waitUntil(() => ended.mock.calls.length > 0, { timeout: 60_000, interval: 20 });
    expect(ended.mock.calls).toEqual([[RELOADS, expect.objectContaining({ message: 'Command timed out' })]]);
  } finally {
    await worker.close();
  }
});

it('logs once in a while, and without its text, that Redis refuses to give jobs', async () => {
  const { prefix } = redis.freshKeys();
  const lines: string[] = [];
  const log = createLogger({ format: 'json', level: 'error', sink: { write: (line) => lines.push(line) } });
  const onError = vi.fn();
  await redis.client.set(`${prefix}:${RELOADS}:wait`, 'no list');
  const worker = runQueue<ReloadJob>(
    { queue: RELOADS, schema: reloadJob, handle: () => Promise.resolve(), failed: () => Promise.resolve() },
    { connection: redis.connect(), prefix, concurrency: 1, lockDuration: 30_000 },
    { ...observers(undefined, log), onError },
  );
  try {
    worker.emit('error', Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }));
    await vi.waitUntil(() => lines.length > 0, { timeout: 60_000, interval: 20 });
    worker.emit('error', new Error('another'));
    expect(onError).toHaveBeenLastCalledWith(expect.objectContaining({ message: 'another' }));
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      expect.objectContaining({ level: 'error', queue: RELOADS, code: 'WRONGTYPE' }),
    ]);
    expect(lines.join()).not.toContain('WRONGTYPE Operation');
  } finally {
    await worker.close();
  }
});
