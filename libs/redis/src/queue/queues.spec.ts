import { setTimeout as sleep } from 'node:timers/promises';
import { Worker, type Job } from 'bullmq';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { useRealRedis } from '../testing/real-redis.ts';
import { leastPause } from './least-pause.ts';
import { CHANGES, Queues, RELOADS, RESUMES, type QueueSettings } from './queues.ts';

const SETTINGS = 'ConfigMap/shop/settings';
const KEYS = 'Secret/shop/keys';
const WEB = 'Deployment/shop/web';
const API = 'Deployment/shop/api';

const redis = useRealRedis();
let prefix: string;
const opened: { close(force?: boolean): Promise<void> }[] = [];

beforeEach(() => {
  ({ prefix } = redis.freshKeys());
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((each) => each.close(true)));
});

function queuesWith(settings: Partial<QueueSettings> = {}): Queues {
  const defaults = { connection: redis.client, prefix, debounce: 0, attempts: 3, backoff: 100 };
  const queues = new Queues({ ...defaults, ...settings });
  opened.push(queues);
  return queues;
}

/** A run of a job, under way until the test ends it. */
interface Run {
  readonly job: Job;
  succeed(): void;
  fail(): void;
}

/** A worker whose runs are ended by hand; `runs` has all that have begun. */
function workerOn(queue: string): readonly Run[] {
  const runs: Run[] = [];
  const handle = (job: Job): Promise<void> =>
    new Promise((resolve, reject) => {
      runs.push({ job, succeed: resolve, fail: () => reject(new Error('Failed: as the test wants')) });
    });
  const connection = redis.connect();
  opened.push(new Worker(queue, handle, { connection, prefix, concurrency: 4 }));
  return runs;
}

/** Resolves with the run of this number, once it has begun. */
async function begun(runs: readonly Run[], number: number): Promise<Run> {
  return vi.waitUntil(() => runs[number - 1], { timeout: 5_000, interval: 5 });
}

/** Resolves when nothing waits, is delayed or active: no further run can come. */
async function settled(queues: Queues, queue: 'changes' | 'reloads' | 'resumes'): Promise<void> {
  const isEmpty = async (): Promise<boolean> => {
    const counts = await queues[queue].getJobCounts('wait', 'delayed', 'active', 'prioritized');
    return Object.values(counts).every((count) => count === 0);
  };
  await vi.waitUntil(isEmpty, { timeout: 5_000, interval: 10 });
}

describe('a job that fails', () => {
  it('keeps the message of its last attempt and no stacks, so that it does not grow', async () => {
    const queues = queuesWith({ attempts: 4, backoff: 1 });
    const runs = workerOn(CHANGES);
    await queues.enqueueChanges([SETTINGS], 0);
    for (const attempt of [1, 2, 3, 4]) (await begun(runs, attempt)).fail();
    const [failed] = await vi.waitUntil(async () => {
      const all = await queues.changes.getFailed();
      return all.length > 0 && all;
    });
    expect(failed).toMatchObject({ attemptsMade: 4, failedReason: 'Failed: as the test wants' });
    expect(failed?.stacktrace).toEqual([]);
  });
});

describe('changes of a source', () => {
  it('that come while its job waits are one job', async () => {
    const queues = queuesWith();
    await queues.enqueueChanges([SETTINGS, KEYS], 1);
    await queues.enqueueChanges([SETTINGS], 2);
    expect(await queues.waiting('changes')).toBe(2);
  });

  it.each([1, 2, 5])(
    'that come %d times while its job is active give exactly one follow-up',
    async (times) => {
      const queues = queuesWith();
      const runs = workerOn(CHANGES);
      await queues.enqueueChanges([SETTINGS], 0);
      const first = await begun(runs, 1);
      for (let n = 1; n <= times; n += 1) await queues.enqueueChanges([SETTINGS], n);
      expect(runs).toHaveLength(1);
      first.succeed();
      (await begun(runs, 2)).succeed();
      await settled(queues, 'changes');
      expect(runs.map(({ job }) => (job.data as { source: string }).source)).toEqual([SETTINGS, SETTINGS]);
    },
  );

  it('that come while its job is active are not lost if that fails for good', async () => {
    const queues = queuesWith({ attempts: 1 });
    const runs = workerOn(CHANGES);
    await queues.enqueueChanges([SETTINGS], 0);
    const first = await begun(runs, 1);
    await queues.enqueueChanges([SETTINGS], 1);
    first.fail();
    (await begun(runs, 2)).succeed();
    await settled(queues, 'changes');
    expect(runs).toHaveLength(2);
  });

  it('that come while its job backs off are handled at once, by one job with all its attempts', async () => {
    const queues = queuesWith({ attempts: 2, backoff: 60_000 });
    const runs = workerOn(CHANGES);
    await queues.enqueueChanges([SETTINGS], 0);
    (await begun(runs, 1)).fail();
    await vi.waitUntil(async () => (await queues.changes.getDelayedCount()) === 1, { interval: 5 });
    await queues.enqueueChanges([SETTINGS], 1);
    const second = await begun(runs, 2);
    expect(second.job.attemptsMade).toBe(0);
    second.succeed();
    await settled(queues, 'changes');
    expect(runs).toHaveLength(2);
  });

  it('do not hold up another source', async () => {
    const queues = queuesWith();
    const runs = workerOn(CHANGES);
    await queues.enqueueChanges([SETTINGS], 0);
    const first = await begun(runs, 1);
    await queues.enqueueChanges([KEYS], 0);
    (await begun(runs, 2)).succeed();
    first.succeed();
    await settled(queues, 'changes');
  });

  it('may be none', async () => {
    const queues = queuesWith();
    await queues.enqueueChanges([], 0);
    await queues.enqueueReloads([]);
    expect(await queues.waiting('changes')).toBe(0);
  });
});

describe('reload jobs of a workload', () => {
  const reload = { workload: WEB, since: 0 } as const;

  it('that do not stop coming become one job, a debounce after the first of them', async () => {
    // A machine that stalls for the quiet period (800 ms) ends it, rightly.
    const debounce = 4_000;
    const queues = queuesWith({ debounce });
    const runs = workerOn(RELOADS);
    const began = performance.now();
    let reloads = 0;
    while (runs.length === 0 && performance.now() - began < 20_000) {
      await queues.enqueueReloads([{ ...reload, since: reloads }]);
      reloads += 1;
      await sleep(20);
    }
    // It was put off again and again, until the debounce was over.
    const run = await begun(runs, 1);
    expect(performance.now() - began).toBeGreaterThanOrEqual(debounce - 20);
    expect(reloads).toBeGreaterThan(3);
    expect((run.job.data as { since: number }).since).toBe(0);
    run.succeed();
    // A reload job that came while it ran gives a follow-up.
    const isDone = async (): Promise<boolean> => {
      runs[1]?.succeed();
      return (await queues.waiting('reloads')) + (await queues.reloads.getActiveCount()) === 0;
    };
    await vi.waitUntil(isDone, { timeout: 20_000, interval: 10 });
  });

  it('that come while its job is active give exactly one follow-up', async () => {
    const queues = queuesWith();
    const runs = workerOn(RELOADS);
    await queues.enqueueReloads([reload]);
    const first = await begun(runs, 1);
    for (let n = 0; n < 3; n += 1) await queues.enqueueReloads([{ ...reload, source: SETTINGS }]);
    first.succeed();
    (await begun(runs, 2)).succeed();
    await settled(queues, 'reloads');
    expect(runs).toHaveLength(2);
  });

  it('that come while its job backs off neither double it nor take its attempts back', async () => {
    const queues = queuesWith({ attempts: 2, backoff: 200 });
    const runs = workerOn(RELOADS);
    await queues.enqueueReloads([reload]);
    (await begun(runs, 1)).fail();
    await vi.waitUntil(async () => (await queues.reloads.getDelayedCount()) === 1, { interval: 5 });
    await queues.enqueueReloads([reload]);
    const second = await begun(runs, 2);
    expect(second.job.attemptsMade).toBe(1);
    second.fail();
    await settled(queues, 'reloads');
    expect(await queues.reloads.getFailedCount()).toBe(1);
    expect(runs).toHaveLength(2);
  });

  it('enqueue each workload by a job of its own', async () => {
    const queues = queuesWith({ debounce: 60_000 });
    await queues.enqueueReloads([reload, { workload: API, since: 0 }, reload]);
    expect(await queues.waiting('reloads')).toBe(2);
  });
});

describe('the end of a pause', () => {
  it('is one job, at the time that was told last', async () => {
    const queues = queuesWith();
    const runs = workerOn(RESUMES);
    await queues.enqueueResumes([{ workload: WEB, at: Date.now() + 3_600_000 }]);
    await queues.enqueueResumes([{ workload: WEB, at: Date.now() + 7_200_000 }]);
    expect(await queues.waiting('resumes')).toBe(1);
    await queues.enqueueResumes([{ workload: WEB, at: 0 }]);
    const run = await begun(runs, 1);
    expect(run.job.data).toEqual({ v: 1, workload: WEB });
    run.succeed();
    await settled(queues, 'resumes');
    expect(runs).toHaveLength(1);
  });

  it('told while it is being handled is one more job', async () => {
    const queues = queuesWith();
    const runs = workerOn(RESUMES);
    await queues.enqueueResumes([{ workload: WEB, at: 0 }]);
    const first = await begun(runs, 1);
    await queues.enqueueResumes([{ workload: WEB, at: 0 }]);
    first.succeed();
    (await begun(runs, 2)).succeed();
    await settled(queues, 'resumes');
    expect(runs).toHaveLength(2);
  });
});

describe('a held workload', () => {
  const held = { v: 1, workload: WEB, since: 5 } as const;

  it('is looked at once, at the time that was told last, beside any other job of it', async () => {
    const queues = queuesWith({ debounce: 60_000 });
    const runs = workerOn(RELOADS);
    await queues.enqueueHeld([held], Date.now() + 3_600_000);
    await queues.enqueueHeld([held], Date.now() + 7_200_000);
    expect(await queues.waiting('reloads')).toBe(1);
    await queues.enqueueReloadNow(WEB, 7);
    const other = await begun(runs, 1);
    await queues.enqueueHeld([held], 0);
    const [first, second] = [other, await begun(runs, 2)];
    expect([first, second].map(({ job }) => job.data as unknown)).toEqual([{ ...held, since: 7 }, held]);
    first.succeed();
    second.succeed();
    await settled(queues, 'reloads');
    expect(runs).toHaveLength(2);
  });

  it('that is still held when it is looked at waits again', async () => {
    const queues = queuesWith();
    const runs = workerOn(RELOADS);
    await queues.enqueueHeld([held], 0);
    const first = await begun(runs, 1);
    await queues.enqueueHeld([held], Date.now() + 3_600_000);
    first.succeed();
    await vi.waitUntil(async () => (await queues.reloads.getDelayedCount()) === 1);
    await queues.enqueueHeld([held], 0);
    (await begun(runs, 2)).succeed();
    await settled(queues, 'reloads');
    expect(runs).toHaveLength(2);
  });
});

describe('a reload now', () => {
  it('does not wait for the debounce, whether or not a job waits already', async () => {
    const queues = queuesWith({ debounce: 60_000 });
    const runs = workerOn(RELOADS);
    await queues.enqueueReloads([{ workload: WEB, since: 0 }]);
    await queues.enqueueReloadNow(WEB, 1);
    await queues.enqueueReloadNow(API, 1);
    (await begun(runs, 1)).succeed();
    (await begun(runs, 2)).succeed();
    await settled(queues, 'reloads');
    expect(runs.map(({ job }) => (job.data as { workload: string }).workload).sort()).toEqual([API, WEB]);
  });

  it('that comes while a job is active gives one follow-up, at once', async () => {
    const queues = queuesWith({ debounce: 60_000 });
    const runs = workerOn(RELOADS);
    await queues.enqueueReloadNow(WEB, 0);
    const first = await begun(runs, 1);
    await queues.enqueueReloadNow(WEB, 1);
    first.succeed();
    (await begun(runs, 2)).succeed();
    await settled(queues, 'reloads');
    expect(runs).toHaveLength(2);
  });

  it('brings a job forward that waits for its next attempt', async () => {
    const queues = queuesWith({ backoff: 60_000 });
    const runs = workerOn(RELOADS);
    await queues.enqueueReloads([{ workload: WEB, since: 0 }]);
    (await begun(runs, 1)).fail();
    await vi.waitUntil(async () => (await queues.reloads.getDelayedCount()) === 1, { interval: 5 });
    await queues.enqueueReloadNow(WEB, 1);
    (await begun(runs, 2)).succeed();
    await settled(queues, 'reloads');
    expect(runs).toHaveLength(2);
  });
});

describe('the least pause after an attempt', () => {
  it.each([
    [1, 50],
    [2, 100],
    [3, 200],
  ])('number %d is half of what doubles each time', (attempt, least) => {
    expect(leastPause({ type: 'exponential', delay: 100, jitter: 0.5 }, attempt)).toBe(least);
  });

  it('of a job without back-off is none', () => {
    expect(leastPause(undefined, 1)).toBe(0);
  });
});

describe('bringing forward', () => {
  it('makes a job that backs off run now', async () => {
    const queues = queuesWith({ backoff: 60_000 });
    const runs = workerOn(RELOADS);
    await queues.enqueueReloads([{ workload: WEB, since: 0 }]);
    const first = await begun(runs, 1);
    first.fail();
    await vi.waitUntil(async () => (await queues.reloads.getDelayedCount()) === 1, { interval: 5 });
    await queues.bringForward([first.job.id ?? '']);
    const second = await begun(runs, 2);
    expect(second.job.attemptsMade).toBe(1);
    second.succeed();
    await settled(queues, 'reloads');
  });

  it('leaves alone what does not wait, and what is not there', async () => {
    const queues = queuesWith();
    const runs = workerOn(RELOADS);
    await queues.enqueueReloads([{ workload: WEB, since: 0 }]);
    const first = await begun(runs, 1);
    await queues.bringForward([first.job.id ?? '', '4711']);
    first.succeed();
    await settled(queues, 'reloads');
    expect(runs).toHaveLength(1);
  });
});

describe('a delayed job of a process whose clock is off', () => {
  const MINUTES = 300_000;

  it.each([
    ['behind that of the leader', MINUTES],
    ['ahead of that of the leader', -MINUTES],
  ])('is brought forward when the clock of its delay is %s', async (_, leaderIsAhead) => {
    const queues = queuesWith({ debounce: 100_000 });
    await queues.enqueueReloads([{ workload: WEB, since: 0 }]);
    await queues.bringForwardMisdated('reloads', Date.now());
    expect(await queues.reloads.getDelayedCount()).toBe(1);
    await queues.bringForwardMisdated('reloads', Date.now() + leaderIsAhead);
    expect(await queues.reloads.getDelayedCount()).toBe(0);
  });

  it('keeps its back-off after an attempt that took long', async () => {
    const queues = queuesWith({ backoff: 60_000 });
    const runs = workerOn(RELOADS);
    await queues.enqueueReloads([{ workload: WEB, since: 0 }]);
    const { job, fail } = await begun(runs, 1);
    fail();
    await vi.waitUntil(async () => (await queues.reloads.getDelayedCount()) === 1, { interval: 5 });
    await redis.client.hset(`${prefix}:${RELOADS}:${job.id}`, 'processedOn', Date.now() - MINUTES);
    await queues.bringForwardMisdated('reloads', Date.now());
    expect(await queues.reloads.getDelayedCount()).toBe(1);
    expect(await queues.oldestDue('reloads', Date.now())).toBe(0);
  });
});

describe('the job that is due for longest', () => {
  const QUIET = 12_000;

  it('has waited since it was enqueued, its delay not included, whether promoted by a worker or not', async () => {
    const queues = queuesWith({ debounce: 60_000 });
    await queues.enqueueChanges([SETTINGS], 0);
    await queues.enqueueReloads([{ workload: WEB, since: 0 }]);
    const now = Date.now();
    expect(await queues.oldestDue('reloads', now)).toBe(0);
    for (const [queue, at] of [
      ['changes', now + 100_000],
      ['reloads', now + QUIET + 100_000],
    ] as const) {
      const waited = await queues.oldestDue(queue, at);
      expect(waited).toBeGreaterThanOrEqual(100_000);
      expect(waited).toBeLessThan(130_000);
    }
  });

  it('has waited since it last began, if it has been tried', async () => {
    const queues = queuesWith({ backoff: 60_000 });
    const runs = workerOn(RELOADS);
    await queues.enqueueReloads([{ workload: WEB, since: 0 }]);
    const first = await begun(runs, 1);
    first.fail();
    await vi.waitUntil(async () => (await queues.reloads.getDelayedCount()) === 1, { interval: 5 });
    const began = first.job.processedOn ?? 0;
    expect(await queues.oldestDue('reloads', began + 20_000)).toBe(0);
    // The back-off is 30 to 60 s, by its jitter.
    expect(await queues.oldestDue('reloads', began + 100_000)).toBeGreaterThanOrEqual(40_000);
  });

  it('of an empty queue has waited for no time', async () => {
    expect(await queuesWith().oldestDue('changes', Date.now())).toBe(0);
  });
});

describe('the jobs that are ready to run', () => {
  it('are those that wait and those with a priority, and not those that are delayed', async () => {
    const queues = queuesWith();
    await queues.enqueueReloads([{ workload: WEB, since: 0 }]);
    await queues.enqueueReloads([{ workload: API, since: 0, isAdoption: true }]);
    await queuesWith({ debounce: 60_000 }).enqueueReloads([{ workload: `${WEB}-2`, since: 0 }]);
    const counts = await queues.reloads.getJobCounts('wait', 'prioritized', 'delayed');
    expect(counts).toEqual({ wait: 1, prioritized: 1, delayed: 1 });
    expect(await queues.ready('reloads')).toBe(2);
    expect(await queues.waiting('reloads')).toBe(3);
    expect(await queues.ready('changes')).toBe(0);
  });
});

describe('the queues', () => {
  it('keep every key under the prefix, as Redis Cluster needs it', async () => {
    const queues = queuesWith();
    await queues.enqueueChanges([SETTINGS], 0);
    await queues.enqueueReloads([{ workload: WEB, since: 0 }]);
    const keys = await redis.client.keys(`*${prefix.slice(1, -1)}*`);
    expect(keys.length).toBeGreaterThan(4);
    for (const key of keys) expect(key.startsWith(`${prefix}:`)).toBe(true);
  });

  it('leave nothing of a job that is done, so that the next change is a new one', async () => {
    const queues = queuesWith();
    const runs = workerOn(CHANGES);
    for (const number of [1, 2]) {
      await queues.enqueueChanges([SETTINGS], number);
      (await begun(runs, number)).succeed();
      await settled(queues, 'changes');
    }
    expect(await queues.changes.getCompletedCount()).toBe(0);
  });
});
