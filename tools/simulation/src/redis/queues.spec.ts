import { Job, Queue, Worker, type JobsOptions } from 'bullmq';
import type { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { Choices, RedisPair, timeless, withoutLine } from './testing/redis-pair.ts';

const FLOWS = 12;
const STEPS = 60;
const TOKEN = 'token';

let pair: RedisPair;
beforeAll(async () => {
  pair = await RedisPair.start();
});
afterAll(() => pair.stop());
beforeEach(async () => {
  await pair.empty();
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A queue and what a worker does, step by step. */
class Flow {
  readonly queue: Queue;
  readonly worker: Worker;
  #active: Job[] = [];

  constructor(connection: Redis) {
    const settings = { connection, prefix: '{p}' };
    this.queue = new Queue('q', settings);
    // It takes no jobs of its own accord.
    this.worker = new Worker('q', undefined, { ...settings, autorun: false, maxStalledCount: 1 });
    this.queue.on('error', () => undefined);
    this.worker.on('error', () => undefined);
  }

  async add(name: string, opts: JobsOptions): Promise<unknown> {
    const job = await this.queue.add(name, { text: 'é', at: 1 }, opts);
    return job.id;
  }

  async addBulk(jobs: readonly JobsOptions[]): Promise<unknown> {
    const added = await this.queue.addBulk(jobs.map((opts) => ({ name: 'bulk', data: { v: 1 }, opts })));
    return added.map(({ id }) => id);
  }

  async take(): Promise<unknown> {
    const job = await this.worker.getNextJob(TOKEN, { block: false });
    if (job) this.#active.push(job);
    return job?.asJSON();
  }

  /** Ends the oldest active job. */
  async end(how: 'complete' | 'fail' | 'delay' | 'wait', fetchesNext: boolean): Promise<unknown> {
    const job = this.#active.shift();
    if (!job) return 'none';
    if (how === 'delay') return job.moveToDelayed(Date.now() + 500, TOKEN);
    if (how === 'wait') return job.moveToWait(TOKEN);
    const next: unknown =
      how === 'complete'
        ? await job.moveToCompleted('fine', TOKEN, fetchesNext)
        : await job.moveToFailed(new Error('as wanted'), TOKEN, fetchesNext);
    if (Array.isArray(next) && next[0] && next[1]) this.#active.push(this.#jobOf(next));
    return next;
  }

  /** The job that came with the answer to the end of another. */
  #jobOf([data, id]: readonly unknown[]): Job {
    const job = Job.fromJSON(this.worker, data as Parameters<typeof Job.fromJSON>[1], String(id));
    job.token = TOKEN;
    return job;
  }

  async withOldest(action: (job: Job) => Promise<unknown>): Promise<unknown> {
    const [job] = this.#active;
    return job ? action(job) : 'none';
  }

  async withAny(at: number, action: (job: Job) => Promise<unknown>): Promise<unknown> {
    const job = await this.queue.getJob(String(at));
    return job ? action(job) : 'none';
  }

  async findStalled(): Promise<unknown> {
    const { scripts } = this.worker as unknown as { scripts: { moveStalledJobsToWait(): Promise<unknown> } };
    return scripts.moveStalledJobsToWait();
  }

  async look(): Promise<unknown> {
    const jobs = await this.queue.getJobs(
      ['waiting', 'delayed', 'prioritized', 'failed', 'completed'],
      0,
      5,
      true,
    );
    return [
      await this.queue.getJobCounts(),
      await this.queue.getCountsPerPriority([0, 1, 2, 3]),
      jobs.map((job) => job.asJSON()),
      await this.queue.getDeduplicationJobId('d1'),
    ];
  }

  async close(): Promise<void> {
    await Promise.all([this.queue.close(), this.worker.close(true)]);
  }
}

type Step = readonly [string, (flow: Flow) => Promise<unknown>];

function jobOptions(random: Choices): JobsOptions {
  return {
    attempts: random.one(1, 3),
    backoff: { type: 'exponential', delay: 100 },
    ...(random.isTrue(0.3) ? { delay: random.one(0, 200, 1000) } : {}),
    ...(random.isTrue(0.3) ? { priority: random.one(0, 1, 2, 3) } : {}),
    ...(random.isTrue(0.5)
      ? {
          deduplication: {
            id: random.one('d1', 'd2'),
            ...random.one<object>(
              {},
              { keepLastIfActive: true },
              { keepLastIfActive: true, replace: true },
              { ttl: 60_000 },
              { ttl: 60_000, extend: true, replace: true },
            ),
          },
        }
      : {}),
    removeOnComplete: random.one<boolean | number>(true, false, 3),
    removeOnFail: random.one<boolean | { age: number; count: number }>(false, { age: 1000, count: 2 }),
    ...(random.isTrue(0.1) ? { lifo: true } : {}),
  };
}

function stepOf(random: Choices): Step {
  const options = jobOptions(random);
  const at = 1 + random.below(30);
  const fetchesNext = random.isTrue();
  const how = random.one('complete', 'complete', 'fail', 'delay', 'wait');
  return random.one<Step>(
    ['add', (flow) => flow.add('one', options)],
    ['add', (flow) => flow.add('one', options)],
    ['add several', (flow) => flow.addBulk([options, options])],
    ['take', (flow) => flow.take()],
    ['take', (flow) => flow.take()],
    ['end', (flow) => flow.end(how, fetchesNext)],
    ['end', (flow) => flow.end(how, fetchesNext)],
    ['extend', (flow) => flow.withOldest((job) => job.extendLock(TOKEN, 60_000))],
    ['progress', (flow) => flow.withOldest((job) => job.updateProgress(5))],
    ['promote', (flow) => flow.withAny(at, (job) => job.promote())],
    ['remove', (flow) => flow.withAny(at, (job) => job.remove())],
    ['retry', (flow) => flow.withAny(at, (job) => job.retry())],
    ['delay', (flow) => flow.withAny(at, (job) => job.changeDelay(700))],
    ['prioritize', (flow) => flow.withAny(at, (job) => job.changePriority({ priority: at % 4 }))],
    ['state', (flow) => flow.withAny(at, (job) => job.getState())],
    ['stalled', (flow) => flow.findStalled()],
    ['pause', async ({ queue }) => ((await queue.isPaused()) ? queue.resume() : queue.pause())],
    ['clean', ({ queue }) => queue.clean(0, 2, random.one('completed', 'failed'))],
    ['look', (flow) => flow.look()],
  );
}

async function outcomeOf(step: Step, flow: Flow): Promise<unknown> {
  try {
    return timeless(JSON.parse(JSON.stringify((await step[1](flow)) ?? null)));
  } catch (error) {
    return withoutLine(String(error));
  }
}

/** Sorts the fields of JSON in a dump: Lua's tables have no order. */
function ordered(value: unknown): unknown {
  if (typeof value === 'string')
    return value.replace(/(?<=^opts = )\{.*\}$/u, (text) => sortedJson(JSON.parse(text)));
  if (Array.isArray(value)) return value.map(ordered);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, ordered(each)]));
}

function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}

describe('the life of jobs', () => {
  it.each(Array.from({ length: FLOWS }, (_, seed) => seed))('is as in Redis (seed %d)', async (seed) => {
    const random = new Choices(seed * 101 + 9);
    const flows = [new Flow(pair.realClient()), new Flow(pair.simulatedClient())] as const;
    for (let at = 0; at < STEPS; at++) {
      const state = random.below(2 ** 32);
      const [real, simulated] = await Promise.all(
        // Each draws the same.
        flows.map((flow) => outcomeOf(stepOf(new Choices(state)), flow)),
      );
      const [name] = stepOf(new Choices(state));
      expect([at, name, simulated]).toEqual([at, name, real]);
      vi.setSystemTime(Date.now() + random.one(0, 1, 50, 300));
    }
    const [real, simulated] = await pair.dump();
    expect(timeless(ordered(simulated))).toEqual(timeless(ordered(real)));
    expect([...pair.simulated.state.unsupported]).toEqual([]);
    await Promise.all(flows.map((flow) => flow.close()));
  });
});
