import { Worker, type Job } from 'bullmq';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { useRealRedis } from '../testing/real-redis.ts';
import { timeOfScore } from './oldest-due.ts';
import { Queues, RELOADS } from './queues.ts';

const WEB = 'Deployment/shop/web';
const API = 'Deployment/shop/api';
/** When these tests begin: this process believes that it is so late, whatever the clock of Redis says. */
const START = Date.now();

const redis = useRealRedis();
let prefix: string;
let now: number;
const opened: { close(force?: boolean): Promise<void> }[] = [];

beforeEach(() => {
  ({ prefix } = redis.freshKeys());
  now = START;
  vi.spyOn(Date, 'now').mockImplementation(() => now);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await Promise.all(opened.splice(0).map((each) => each.close(true)));
});

function queuesWith(debounce: number): Queues {
  const queues = new Queues({ connection: redis.client, prefix, debounce, attempts: 3, backoff: 60_000 });
  opened.push(queues);
  return queues;
}

async function enqueueAt(time: number, queues: Queues, since = 0): Promise<void> {
  now = START + time;
  await queues.enqueueReloads([{ workload: WEB, since }]);
}

/** When each delayed job is due, in milliseconds after the start. */
async function due(): Promise<number[]> {
  const scored = await redis.client.zrange(`${prefix}:${RELOADS}:delayed`, 0, '-1', 'WITHSCORES');
  return scored.filter((_, index) => index % 2 === 1).map((score) => timeOfScore(score) - START);
}

/** Takes one job and ends it as asked. */
async function oneRun(): Promise<{ end(how: 'succeed' | 'fail'): void }> {
  const began = Promise.withResolvers<void>();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const handle = (): Promise<void> => {
    began.resolve();
    return promise;
  };
  opened.push(new Worker(RELOADS, handle, { connection: redis.connect(), prefix, concurrency: 1 }));
  await began.promise;
  return { end: (how) => (how === 'succeed' ? resolve() : reject(new Error('Failed: as the test wants'))) };
}

/** The waiting job begins, as soon as it is due, between the two round trips of what is enqueued next. */
async function beginsBefore({ reloads }: Queues): Promise<{ end(how: 'succeed' | 'fail'): void }> {
  const { promise, resolve } = Promise.withResolvers<Awaited<ReturnType<typeof oneRun>>>();
  const add = reloads.addBulk.bind(reloads);
  vi.spyOn(reloads, 'addBulk').mockImplementationOnce(async (jobs) => {
    const [at = now] = await due();
    now = Math.max(now, START + at);
    resolve(await oneRun());
    return await add(jobs);
  });
  return await promise;
}

async function theJob(queues: Queues): Promise<Job> {
  const [job, ...others] = await queues.reloads.getJobs(['delayed', 'wait', 'prioritized', 'active']);
  expect(others).toEqual([]);
  if (!job) throw new Error('expected a job, given none');
  return job;
}

describe('the reload job of a workload is due', () => {
  it.each([
    ['a fifth of the debounce after a lone change', 500, [0], 100],
    ['the quiet period after the last change', 500, [0, 50, 130], 230],
    ['a debounce after the first of ten changes', 500, [0, 50, 100, 150, 200, 250, 300, 350, 400, 450], 500],
    ['when it was due, though another change comes before a worker takes it', 500, [0, 90, 600], 190],
    ['a tenth of a second after a lone change if a fifth would be less', 200, [0], 100],
    ['after the whole debounce if that is shorter than a tenth of a second', 40, [0, 30], 40],
    ['a minute after a lone change with a debounce of five', 300_000, [0], 60_000],
  ] as const)('%s', async (_, debounce, times, expected) => {
    const queues = queuesWith(debounce);
    for (const time of times) await enqueueAt(time, queues);
    expect(await due()).toEqual([expected]);
  });

  it('at one time, whichever process enqueues it', async () => {
    const [one, other] = [queuesWith(500), queuesWith(500)];
    for (const [index, queues] of [one, other, one, other, one, other].entries())
      await enqueueAt(index * 90, queues);
    expect(await due()).toEqual([500]);
  });

  it.each([
    ['ahead', 3_000],
    ['behind', -3_000],
  ])('soon, if the clock of who enqueued it first is %s', async (_, off) => {
    await enqueueAt(off, queuesWith(500));
    await enqueueAt(50, queuesWith(500));
    const [at = Number.NaN] = await due();
    expect(at).toBeLessThanOrEqual(150);
  });

  it('at its own time, if that of another workload is put off', async () => {
    const queues = queuesWith(500);
    await queues.enqueueReloads([
      { workload: WEB, since: 0 },
      { workload: API, since: 0 },
    ]);
    await enqueueAt(80, queues);
    expect(await due()).toEqual([100, 180]);
  });

  it('like that of an adoption, which it does not put off', async () => {
    const queues = queuesWith(500);
    await queues.enqueueReloads([{ workload: WEB, since: 0, isAdoption: true }]);
    await enqueueAt(50, queues);
    await enqueueAt(90, queues);
    expect(await due()).toEqual([100, 190]);
  });
});

describe('a job that is put off', () => {
  it('stays the one that was enqueued first, and says how long it waits from there', async () => {
    const queues = queuesWith(500);
    await enqueueAt(0, queues, 1);
    const { id } = await theJob(queues);
    await enqueueAt(60, queues, 2);
    const job = await theJob(queues);
    expect(job).toMatchObject({ id, timestamp: START, delay: 160, data: { workload: WEB, since: 1 } });
  });

  it('is brought forward by a manual reload, and not put off again', async () => {
    const queues = queuesWith(500);
    await enqueueAt(0, queues);
    await queues.enqueueReloadNow(WEB, 0);
    await enqueueAt(50, queues);
    expect(await due()).toEqual([]);
    expect(await (await theJob(queues)).getState()).toBe('waiting');
  });
});

describe('a change that comes while the reload job', () => {
  it('is active gives one follow-up, after the quiet period', async () => {
    const queues = queuesWith(500);
    await queues.enqueueReloadNow(WEB, 0);
    const run = await oneRun();
    for (const time of [0, 40, 80]) await enqueueAt(time, queues);
    expect(await due()).toEqual([]);
    run.end('succeed');
    const followUp = await vi.waitUntil(async () => (await due()).at(0), { timeout: 5_000, interval: 5 });
    expect(followUp).toBe(180);
    expect((await theJob(queues)).attemptsMade).toBe(0);
  });

  it.each([
    ['is due and', 375],
    ['is nearly due and', 366],
  ])('%s begins before it can be put off gives one follow-up, after the quiet period', async (_, time) => {
    const queues = queuesWith(500);
    for (const earlier of [0, 90, 180, 270]) await enqueueAt(earlier, queues);
    expect(await due()).toEqual([370]);
    const run = beginsBefore(queues);
    await enqueueAt(time, queues);
    (await run).end('succeed');
    const followUp = await vi.waitUntil(async () => (await due()).at(0), { timeout: 5_000, interval: 5 });
    expect(followUp).toBe(now - START + 100);
  });

  it('backs off neither moves it nor adds another', async () => {
    const queues = queuesWith(500);
    await queues.enqueueReloadNow(WEB, 0);
    (await oneRun()).end('fail');
    const before = await vi.waitUntil(async () => (await due()).at(0), { timeout: 5_000, interval: 5 });
    await enqueueAt(50, queues);
    expect(await due()).toEqual([before]);
    expect((await theJob(queues)).attemptsMade).toBe(1);
  });

  it('was lost with its key left over is a job of its own', async () => {
    const queues = queuesWith(500);
    await enqueueAt(0, queues);
    await redis.client.del(
      `${prefix}:${RELOADS}:delayed`,
      `${prefix}:${RELOADS}:${(await theJob(queues)).id}`,
    );
    await enqueueAt(300, queues);
    expect(await due()).toEqual([400]);
  });
});

describe('what the debounce costs', () => {
  const reloads = Array.from({ length: 200 }, (_, index) => `Deployment/shop/${index}` as const).map(
    (workload) => ({ workload, since: 0 }),
  );

  /** How often each of these commands was called. */
  async function calls(): Promise<{ mget: number; hmget: number }> {
    const text = await redis.client.info('commandstats');
    const count = (name: string): number =>
      Number(new RegExp(`cmdstat_${name}:calls=([0-9]+)`, 'u').exec(text)?.[1] ?? 0);
    return { mget: count('mget'), hmget: count('hmget') };
  }

  async function costOf(queues: Queues): Promise<{ mget: number; hmget: number }> {
    // The first call of a queue reads its settings, and so does each script.
    const before = await calls();
    await queues.enqueueReloads(reloads);
    const after = await calls();
    return { mget: after.mget - before.mget, hmget: after.hmget - before.hmget };
  }

  it('is one command for each hundred workloads, and one more for each that has a job', async () => {
    const queues = queuesWith(60_000);
    const first = await costOf(queues);
    const second = await costOf(queues);
    expect([first.mget, second.mget]).toEqual([2, 2]);
    expect(second.hmget - first.hmget).toBe(200);
  });

  it('is nothing without a debounce', async () => {
    const queues = queuesWith(0);
    expect((await costOf(queues)).mget).toBe(0);
    expect(await due()).toEqual([]);
    expect(await queues.waiting('reloads')).toBe(200);
  });
});
