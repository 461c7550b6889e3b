import type { WorkloadKey } from '@reroll/core/model';
import { Queues } from '@reroll/redis/queue/queues';
import { useRealRedis } from '@reroll/redis/testing/real-redis';
import { Worker } from 'bullmq';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Caller } from '../auth/caller.ts';
import { anonymousReader } from '../auth/static-tokens.ts';
import { JobBoard } from './job-board.ts';

/** More than the first of a burst, all of which are in the list that comes first. */
const BURST = 40;
const MINUTE = 60_000;

const redis = useRealRedis();
let prefix: string;
const opened: { close(force?: boolean): Promise<void> }[] = [];

beforeEach(() => {
  ({ prefix } = redis.freshKeys());
  // Bursts drain by this clock: here they do not.
  vi.spyOn(performance, 'now').mockReturnValue(0);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await Promise.all(opened.splice(0).map((each) => each.close(true)));
});

function opening<Opened extends { close(force?: boolean): Promise<void> }>(one: Opened): Opened {
  opened.push(one);
  return one;
}

function queuesWith(debounce = 0): Queues {
  return opening(
    new Queues({ connection: redis.client, prefix, debounce, attempts: 3, backoff: 60 * MINUTE }),
  );
}

function reloadsOf(namespace: string, count: number): { workload: WorkloadKey; since: number }[] {
  return Array.from({ length: count }, (_, index) => ({
    workload: `Deployment/${namespace}/${index}`,
    since: 0,
  }));
}

/** Enqueues so many other reloads, as if so many milliseconds had passed. */
async function enqueueIn(ms: number, count: number): Promise<void> {
  vi.spyOn(Date, 'now').mockReturnValue(Date.now() + ms);
  await queuesWith().enqueueReloads(
    reloadsOf('shop', count).map((reload) => ({ ...reload, workload: `${reload.workload}-later` as const })),
  );
  vi.mocked(Date.now).mockRestore();
}

const OF_SHOP: Caller = {
  ...anonymousReader(),
  seesAll: () => Promise.resolve(false),
  sees: (namespace) => Promise.resolve(namespace === 'shop'),
};
const CALLERS = [
  ['of all namespaces', anonymousReader()],
  ['of one namespace', OF_SHOP],
] as const;

/** The lag (s) of the queue of reloads that a caller is told so many milliseconds from now. */
async function lagIn(ms: number, caller: Caller): Promise<number> {
  const board = opening(new JobBoard({ connection: redis.client, prefix }));
  const at = Date.now() + ms;
  vi.spyOn(Date, 'now').mockReturnValue(at);
  const { oldestDueSeconds } = await board.queue('reloads', caller);
  return oldestDueSeconds;
}

describe.each(CALLERS)('the lag that a caller %s is told', (_who, caller) => {
  it('is of the job that has waited longest, if it is of a higher level than others', async () => {
    const queues = queuesWith();
    await queues.enqueueReloads(reloadsOf('shop', BURST));
    // The first of the burst are taken: only those of higher levels are left of it.
    const first = await queues.reloads.getWaiting();
    await Promise.all(first.map((job) => job.remove()));
    await enqueueIn(5 * MINUTE, 1);
    expect(await queues.reloads.getPrioritizedCount()).toBe(BURST - first.length);
    expect(await lagIn(5 * MINUTE, caller)).toBeGreaterThanOrEqual(300);
  });

  it('is of the job that has waited longest, if it is of a lower level than others', async () => {
    await queuesWith().enqueueReloads(reloadsOf('shop', 1));
    await enqueueIn(5 * MINUTE, BURST);
    expect(await lagIn(5 * MINUTE, caller)).toBeGreaterThanOrEqual(300);
  });

  it('is not of adoption, which waits behind all other jobs', async () => {
    const adopted = reloadsOf('shop', 3).map((reload) => ({ ...reload, isAdoption: true }));
    await queuesWith().enqueueReloads(adopted);
    expect(await lagIn(MINUTE, caller)).toBe(0);
  });

  it('is of a delayed job once that is due', async () => {
    await queuesWith(10 * MINUTE).enqueueReloads(reloadsOf('shop', 1));
    expect(await lagIn(MINUTE, caller)).toBe(0);
    vi.mocked(Date.now).mockRestore();
    expect(await lagIn(3 * MINUTE, caller)).toBeGreaterThanOrEqual(60);
  });

  it('is not of a job that backs off after an attempt that took long', async () => {
    const queues = queuesWith();
    await queues.enqueueReloads(reloadsOf('shop', 1));
    const fail = (): Promise<never> => Promise.reject(new Error('a failure'));
    opening(new Worker('reloads', fail, { connection: redis.connect(), prefix }));
    await vi.waitUntil(async () => (await queues.reloads.getDelayedCount()) === 1, { interval: 5 });
    const [job] = await queues.reloads.getDelayed();
    await redis.client.hset(queues.reloads.toKey(job?.id ?? ''), 'processedOn', Date.now() - 120 * MINUTE);
    expect(await lagIn(0, caller)).toBe(0);
  });
});

it('the lag is not of namespaces that the caller does not see', async () => {
  await queuesWith().enqueueReloads(reloadsOf('bank', BURST));
  await queuesWith(MINUTE).enqueueReloads(reloadsOf('bank', 1));
  expect(await lagIn(5 * MINUTE, OF_SHOP)).toBe(0);
});

it('a job that waits for a worker already is not retried, and the caller is told', async () => {
  const queues = queuesWith();
  await queues.enqueueReloads(reloadsOf('shop', 1));
  const [job] = await queues.reloads.getJobs(['waiting', 'prioritized']);
  const board = opening(new JobBoard({ connection: redis.client, prefix }));
  const found = await board.find(`reloads:${job?.id ?? ''}`, OF_SHOP);
  if (!found) throw new Error('expected a job');
  await expect(board.retry(found)).rejects.toMatchObject({
    code: 'Conflict',
    details: { detail: 'the job waits for a worker already' },
  });
});
