import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openRedis, openForWaiting } from '@reroll/redis/connection/redis';
import { Events, type Owner } from '../scheduler.ts';
import type { Delivery } from './server-connection.ts';
import { SimulatedRedis } from './server.ts';
import { useVirtualTime } from './testing/virtual-time.ts';

const OWNER: Owner = { name: 'worker', isAlive: true };
const HOOKS = { onDown: () => undefined, onUp: () => undefined };

const START = 1_800_000_000_000;

let scheduler: Events;
let redis: SimulatedRedis;
/** What happens to the next commands. */
let deliveryOf: (commands: readonly (readonly string[])[]) => Delivery;
let restoreTime: () => void;

beforeEach(() => {
  scheduler = new Events(1, START);
  restoreTime = useVirtualTime(scheduler);
  deliveryOf = () => ({ before: 1, after: 1, fate: 'ok' });
  redis = new SimulatedRedis({ scheduler, onRequest: (_, commands) => deliveryOf(commands) });
});
afterEach(() => {
  restoreTime();
});

/** A connection as the processes open it. */
function open(owner = OWNER) {
  return openRedis({ redisConnector: redis.connectorFor(owner) }, HOOKS);
}

/** What happens to commands with this name, once. */
function once(name: string, delivery: Delivery): void {
  const before = deliveryOf;
  deliveryOf = (commands) => {
    if (!commands.some(([command]) => command === name)) return before(commands);
    deliveryOf = before;
    return delivery;
  };
}

describe('a connection', () => {
  it('answers after the latencies, in virtual time', async () => {
    const client = open();
    await scheduler.until(client.ping());
    deliveryOf = () => ({ before: 30, after: 12, fate: 'ok' });
    const start = scheduler.now();
    await scheduler.until(client.set('key', 'é'));
    expect(scheduler.now() - start).toBe(42);
    expect(await scheduler.until(client.get('key'))).toBe('é');
  });

  it('keeps commands in order, whatever their latencies', async () => {
    const client = open();
    await scheduler.until(client.ping());
    let before = 100;
    deliveryOf = () => ({ before: (before -= 40), after: 0, fate: 'ok' });
    const first = client.rpush('list', 'first');
    await scheduler.until(new Promise((resolve) => scheduler.after(1, OWNER, () => resolve(undefined))));
    await scheduler.until(Promise.all([first, client.rpush('list', 'second')]));
    expect(redis.call('LRANGE', 'list', '0', '-1')).toEqual(['first', 'second']);
  });

  it('is made anew after a lost reply, and ioredis sends the command again', async () => {
    const client = open();
    await scheduler.until(client.ping());
    once('incr', { before: 1, after: 1, fate: 'lostReply' });
    expect(await scheduler.until(client.incr('n'))).toBe(2);
  });

  it.each(['lostRequest', 'cut'] as const)('is made anew after a fate of %s', async (fate) => {
    const client = open();
    await scheduler.until(client.ping());
    once('incr', { before: 1, after: 1, fate });
    expect(await scheduler.until(client.incr('n'))).toBe(1);
  });

  it('ends when the client quits', async () => {
    const client = open();
    const end = new Promise((resolve) => client.once('end', () => resolve('ended')));
    expect(await scheduler.until(client.quit())).toBe('OK');
    expect(await scheduler.until(end)).toBe('ended');
  });

  it('is refused while the server is down', async () => {
    redis.isDown = true;
    const client = open();
    const ping = client.ping();
    scheduler.after(5_000, undefined, () => {
      redis.isDown = false;
    });
    expect(await scheduler.until(ping)).toBe('PONG');
    expect(scheduler.now()).toBeGreaterThanOrEqual(START + 5_000);
  });

  it('of a process that was killed takes no data, and hears nothing', async () => {
    const dead: Owner = { name: 'dead', isAlive: true };
    const waiting = openForWaiting(open(dead));
    await scheduler.until(waiting.ping());
    const heard = vi.fn();
    void waiting.bzpopmin('marker', 0).then(heard, heard);
    await scheduler.until(new Promise((resolve) => scheduler.after(50, undefined, () => resolve(undefined))));
    dead.isAlive = false;
    const client = open();
    await scheduler.until(client.zadd('marker', 1, 'x'));
    expect(await scheduler.until(client.zcard('marker'))).toBe(1);
    expect(heard).not.toHaveBeenCalled();
  });
});

describe('a command that waits', () => {
  it('is answered when there is data, the first that asked first', async () => {
    const [client, one, other] = [open(), openForWaiting(open()), openForWaiting(open())];
    await scheduler.until(Promise.all([client.ping(), one.ping(), other.ping()]));
    const first = one.bzpopmin('marker', 5);
    await scheduler.until(new Promise((resolve) => scheduler.after(10, undefined, () => resolve(undefined))));
    const second = other.bzpopmin('marker', 5);
    scheduler.after(100, OWNER, () => void client.zadd('marker', 3, 'x'));
    expect(await scheduler.until(first)).toEqual(['marker', 'x', '3']);
    const start = scheduler.now();
    expect(await scheduler.until(second)).toBeNull();
    expect(scheduler.now() - start).toBeGreaterThan(4_000);
  });
});

describe('a Redis', () => {
  it('that is full refuses what may need memory, also in a script that has not written', async () => {
    const client = open();
    await scheduler.until(client.set('key', 'value'));
    redis.state.isFull = true;
    await expect(scheduler.until(client.set('key', 'other'))).rejects.toThrow('OOM command not allowed');
    await expect(scheduler.until(client.eval(`redis.call('SET', 'a', 1)`, 0))).rejects.toThrow('OOM');
    await scheduler.until(client.eval(`redis.call('DEL', 'key') redis.call('SET', 'a', 1)`, 0));
    expect(await scheduler.until(client.exists('key', 'a'))).toBe(1);
  });

  it('can be set back, and forgets scripts then', async () => {
    const client = open();
    await scheduler.until(client.set('key', 'old'));
    const sha = String(await scheduler.until(client.script('LOAD', 'return 1')));
    const snapshot = redis.snapshot();
    await scheduler.until(client.set('key', 'new'));
    redis.restore(snapshot);
    expect(await scheduler.until(client.get('key'))).toBe('old');
    await expect(scheduler.until(client.evalsha(sha, 0))).rejects.toThrow('NOSCRIPT');
  });

  it('lets values expire by virtual time', async () => {
    const client = open();
    await scheduler.until(client.set('key', 'value', 'PX', 1000));
    scheduler.after(995, undefined, () => undefined);
    await scheduler.until(
      new Promise((resolve) => scheduler.after(990, undefined, () => resolve(undefined))),
    );
    expect(redis.usedEntries()).toBe(2);
    await scheduler.until(new Promise((resolve) => scheduler.after(20, undefined, () => resolve(undefined))));
    expect(redis.usedEntries()).toBe(0);
  });

  it('shows every text that it holds', async () => {
    const client = open();
    await scheduler.until(
      Promise.all([client.hset('hash', 'field', 'value'), client.xadd('s', '*', 'a', 'b')]),
    );
    expect([...redis.texts()].sort()).toEqual(['a', 'b', 'field', 'hash', 's', 'value']);
  });

  it('reports what it was asked and does not know', async () => {
    await expect(scheduler.until(open().call('GEOADD', 'x'))).rejects.toThrow('unknown command');
    expect([...redis.state.unsupported]).toEqual(['GEOADD']);
  });
});

/** Runs 100 jobs with retries, delays, priorities and deduplication; returns what happened, with times. */
async function runJobs(): Promise<string[]> {
  const queue = new Queue('q', { connection: open() });
  const trace: string[] = [];
  const worker = new Worker<{ n: number }>(
    'q',
    async (job) => {
      trace.push(`${scheduler.now()} ${job.id} ${job.data.n} ${job.attemptsMade}`);
      await new Promise((resolve) => setTimeout(resolve, 20 + (job.data.n % 5) * 30));
      if (job.data.n % 4 === job.attemptsMade) throw new Error('as wanted');
    },
    { connection: open(), concurrency: 4, name: 'w' },
  );
  queue.on('error', () => undefined);
  worker.on('error', () => undefined);
  const jobs = Array.from({ length: 100 }, (_, n) => ({
    name: 'job',
    data: { n },
    opts: {
      attempts: 5,
      backoff: { type: 'exponential', delay: 200 },
      delay: n % 3 === 0 ? n * 10 : 0,
      priority: n % 7 === 0 ? 3 : 0,
      removeOnComplete: true,
      ...(n >= 90 ? { deduplication: { id: 'same', keepLastIfActive: true } } : {}),
    },
  }));
  await scheduler.until(queue.addBulk(jobs));
  const isDone = async (): Promise<boolean> => {
    const counts = await queue.getJobCounts('wait', 'delayed', 'active', 'prioritized', 'failed');
    return Object.values(counts).every((count) => count === 0);
  };
  while (!(await scheduler.until(isDone())))
    await scheduler.until(new Promise((resolve) => setTimeout(resolve, 500)));
  await scheduler.until(Promise.all([queue.close(), worker.close()]));
  expect([...redis.state.unsupported]).toEqual([]);
  return trace;
}

describe('BullMQ on it', () => {
  it('runs jobs with retries, delays, priorities and deduplication in virtual time', async () => {
    const trace = await runJobs();
    const runsOf = (n: number): number => trace.filter((line) => line.split(' ')[2] === String(n)).length;
    // The first attempt fails if n % 4 is 0; otherwise the first succeeds.
    expect(runsOf(0)).toBe(2);
    expect(runsOf(1)).toBe(1);
    expect(
      Array.from({ length: 90 }, (_, n) => runsOf(n)).every((runs, n) => runs === (n % 4 === 0 ? 2 : 1)),
    ).toBe(true);
    expect(Array.from({ length: 10 }, (_, n) => runsOf(90 + n)).reduce((sum, runs) => sum + runs)).toBe(1);
  });

  it('does the same again with the same seed', async () => {
    const first = await runJobs();
    restoreTime();
    scheduler = new Events(1, START);
    restoreTime = useVirtualTime(scheduler);
    redis = new SimulatedRedis({ scheduler, onRequest: (_, commands) => deliveryOf(commands) });
    expect(await runJobs()).toEqual(first);
  });
});

it('answers plain ioredis connections', async () => {
  const client = new Redis({ Connector: redis.connectorFor(OWNER) });
  expect(await scheduler.until(client.ping())).toBe('PONG');
  expect(await scheduler.until(client.duplicate().set('a', 1))).toBe('OK');
});
