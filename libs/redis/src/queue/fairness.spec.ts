import { setTimeout as pause } from 'node:timers/promises';
import { Worker, type Job } from 'bullmq';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { keyOf, type Key } from '@reroll/core/model';
import { useRealRedis } from '../testing/real-redis.ts';
import { BURST } from './burst-levels.ts';
import { CHANGES, Queues, RELOADS } from './queues.ts';

const redis = useRealRedis();
let prefix: string;
const opened: { close(force?: boolean): Promise<void> }[] = [];

beforeEach(() => {
  ({ prefix } = redis.freshKeys());
  // Bursts drain by this clock: here they do not, however long a loaded machine takes to enqueue them.
  vi.spyOn(performance, 'now').mockReturnValue(0);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await Promise.all(opened.splice(0).map((each) => each.close(true)));
});

/** Of a burst so many go first. */
const FIRST = BURST + 1;

function queuesWith(debounce = 0): Queues {
  const queues = new Queues({ connection: redis.client, prefix, debounce, attempts: 3, backoff: 60_000 });
  opened.push(queues);
  return queues;
}

function keysOf<Kind extends string>(kind: Kind, namespace: string, count: number): Key<Kind>[] {
  return Array.from({ length: count }, (_, index) => keyOf({ kind, namespace, name: `${index}` }));
}

function reloadsOf(namespace: string, count: number) {
  return keysOf('Deployment', namespace, count).map((workload) => ({ workload, since: 0 }));
}

/** Takes jobs one at a time until the wanted one comes; gives all that were taken, that one last. */
async function takenUntil(queue: string, wanted: string): Promise<string[]> {
  const taken: string[] = [];
  const { promise, resolve } = Promise.withResolvers<string[]>();
  const handle = async (job: Job<{ workload?: string; source?: string }>): Promise<void> => {
    const key = job.data.workload ?? job.data.source ?? '';
    taken.push(key);
    if (key !== wanted) return;
    resolve([...taken]);
    // Nothing else is taken meanwhile: the spec closes the worker.
    await new Promise(() => undefined);
  };
  opened.push(new Worker(queue, handle, { connection: redis.connect(), prefix, concurrency: 1 }));
  return promise;
}

/** A long burst: a hundred times what goes first at once. */
const LONG = 3_200;

describe('behind a long burst of one namespace', () => {
  it('of reloads, that of another is handled after the first only', async () => {
    const queues = queuesWith();
    await queues.enqueueReloads(reloadsOf('a', LONG));
    await queues.enqueueReloads([{ workload: 'Deployment/b/web', since: 0 }]);
    expect(await queues.waiting('reloads')).toBe(LONG + 1);
    const taken = await takenUntil(RELOADS, 'Deployment/b/web');
    expect(taken.length - 1).toBeLessThanOrEqual(FIRST);
  });

  it('of changes, that of another is handled after the first only', async () => {
    const queues = queuesWith();
    await queues.enqueueChanges(keysOf('ConfigMap', 'a', LONG), 0);
    await queues.enqueueChanges(['ConfigMap/b/cm'], 0);
    expect(await queues.waiting('changes')).toBe(LONG + 1);
    const taken = await takenUntil(CHANGES, 'ConfigMap/b/cm');
    expect(taken.length - 1).toBeLessThanOrEqual(FIRST);
  });

  it('of workloads that are held until the same moment, that of another is handled first', async () => {
    const queues = queuesWith();
    const held = reloadsOf('a', 200).map((job) => ({ v: 1 as const, ...job }));
    await queues.enqueueHeld(held, Date.now() + 300);
    await pause(400);
    await queues.enqueueReloads([{ workload: 'Deployment/b/web', since: 0 }]);
    const taken = await takenUntil(RELOADS, 'Deployment/b/web');
    // One is taken when BullMQ makes them due.
    expect(taken.length - 1).toBeLessThanOrEqual(1);
  });

  // BullMQ makes a thousand delayed jobs due at a time, each time that one is taken.
  it('one more is handled for each thousand that end their debounce at the same moment', async () => {
    const queues = queuesWith(50);
    await queues.enqueueReloads(reloadsOf('a', LONG));
    await queues.enqueueReloads([{ workload: 'Deployment/b/web', since: 0 }]);
    await pause(100);
    const taken = await takenUntil(RELOADS, 'Deployment/b/web');
    expect(taken.length - 1).toBeLessThanOrEqual(FIRST + 4);
  });

  it('a smaller burst is handled after twice its own size at most', async () => {
    const queues = queuesWith();
    await queues.enqueueReloads(reloadsOf('a', 3_000));
    await queues.enqueueReloads(reloadsOf('b', 300));
    const taken = await takenUntil(RELOADS, 'Deployment/b/299');
    expect(taken.filter((key) => key.startsWith('Deployment/a/')).length).toBeLessThanOrEqual(
      2 * 300 + FIRST,
    );
  });

  it('jobs of its own namespace stay in order', async () => {
    const queues = queuesWith();
    await queues.enqueueReloads(reloadsOf('a', 300));
    const taken = await takenUntil(RELOADS, 'Deployment/a/299');
    expect(taken).toEqual(keysOf('Deployment', 'a', 300));
  });

  it('a reload that a person asks for is handled before those of the burst that wait behind', async () => {
    const queues = queuesWith();
    await queues.enqueueReloads(reloadsOf('a', 1_000));
    await queues.enqueueReloadNow('Deployment/a/999', 0);
    const taken = await takenUntil(RELOADS, 'Deployment/a/999');
    expect(taken.length - 1).toBeLessThanOrEqual(FIRST);
  });

  it('the one that has waited for longest is found, whatever its level', async () => {
    const queues = queuesWith();
    await queues.enqueueReloads(reloadsOf('a', 40));
    const now = Date.now();
    await takenUntil(RELOADS, 'Deployment/a/31');
    expect(await queues.reloads.getPrioritizedCount()).toBeGreaterThan(0);
    expect(await queues.oldestDue('reloads', now + 60_000)).toBeGreaterThanOrEqual(60_000);
  });
});

describe('adoption', () => {
  const adopted = reloadsOf('a', 100).map((reload) => ({ ...reload, isAdoption: true }));

  it('waits behind whatever is real, however long the burst', async () => {
    const queues = queuesWith();
    await queues.enqueueReloads(adopted);
    await queues.enqueueReloads(reloadsOf('b', 200));
    const taken = await takenUntil(RELOADS, 'Deployment/a/0');
    expect(taken).toHaveLength(201);
  });

  it('that waits holds up no real reload job of the same workload', async () => {
    const queues = queuesWith();
    await queues.enqueueReloads(adopted);
    await queues.enqueueReloads([{ workload: 'Deployment/a/99', since: 0 }]);
    expect(await takenUntil(RELOADS, 'Deployment/a/99')).toHaveLength(1);
  });

  it('of one workload is one job', async () => {
    const queues = queuesWith();
    await queues.enqueueReloads([...adopted, ...adopted]);
    expect(await queues.waiting('reloads')).toBe(100);
  });

  it('that waits is no delay that anybody is warned of', async () => {
    const queues = queuesWith();
    await queues.enqueueReloads(adopted);
    expect(await queues.oldestDue('reloads', Date.now() + 60_000)).toBe(0);
  });
});

describe('a source that changes all the time', () => {
  it('has one job at work or done, and one that waits for the end of the debounce', async () => {
    const queues = queuesWith(60_000);
    const taken = takenUntil(CHANGES, 'ConfigMap/a/hot');
    await queues.enqueueChanges(['ConfigMap/a/hot'], 0);
    await taken;
    for (let n = 0; n < 1_000; n += 1) await queues.enqueueChanges(['ConfigMap/a/hot'], n);
    await Promise.all(opened.splice(0).map((each) => each.close(true)));
    const counts = await queuesWith().changes.getJobCounts('wait', 'delayed', 'prioritized', 'active');
    expect(counts).toEqual({ wait: 0, delayed: 0, prioritized: 0, active: 1 });
  });

  it('is read after its last change', async () => {
    const queues = queuesWith(100);
    const began: number[] = [];
    const handle = async (): Promise<void> => void began.push(Date.now());
    opened.push(new Worker(CHANGES, handle, { connection: redis.connect(), prefix, concurrency: 4 }));
    const start = Date.now();
    let last = start;
    while (Date.now() - start < 1_000) {
      last = Date.now();
      await queues.enqueueChanges(['ConfigMap/a/hot'], last);
    }
    const isIdle = async (): Promise<boolean> =>
      Object.values(await queues.changes.getJobCounts('wait', 'delayed', 'prioritized', 'active')).every(
        (count) => count === 0,
      );
    await vi.waitUntil(isIdle, { timeout: 10_000, interval: 20 });
    expect(began.at(-1)).toBeGreaterThanOrEqual(last);
    // One at once, one more within the first debounce, then one each debounce, and the follow-up.
    expect(began.length).toBeLessThanOrEqual(3 + Math.ceil((last - start) / 100));
  });
});

describe('bringing forward', () => {
  it('costs one command a job, whether it waits or not', async () => {
    const queues = queuesWith(60_000);
    await queues.enqueueReloads(reloadsOf('a', 500));
    const waiting = await queues.reloads.getDelayed();
    const ids = waiting.map(({ id = '' }) => id);
    const before = await commandsOf();
    await queues.bringForward([...ids, ...ids]);
    expect((await commandsOf()) - before).toBe(1_000);
    expect(await queues.reloads.getDelayedCount()).toBe(0);
  });
});

/** Commands that look at a job or move it, and are not made by scripts themselves. */
async function commandsOf(): Promise<number> {
  const text = await redis.client.info('commandstats');
  const calls = [...text.matchAll(/cmdstat_(?:evalsha|hgetall):calls=([0-9]+)/gu)];
  return calls.reduce((sum, [, count]) => sum + Number(count), 0);
}
