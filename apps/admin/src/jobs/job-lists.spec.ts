import { jobParams } from '@reroll/shared/api/queues';
import type { Job } from 'bullmq';
import { describe, expect, it } from 'vitest';
import { JobLists } from './job-lists.ts';

const QUEUE = 'reloads';

/** Queues with this many jobs, the newest with the highest id, that count how often they are read. */
function listsOf(count: number): { lists: JobLists; read: () => number; pass: (ms: number) => void } {
  let now = 0;
  let reads = 0;
  const jobs = Array.from(
    { length: count },
    (_, index) => ({ id: `${index}`, timestamp: index, opts: {} }) as Job,
  );
  const getJobs = (_types: unknown, start = 0, end = -1, asc = false): Promise<Job[]> => {
    reads += 1;
    return Promise.resolve((asc ? jobs : jobs.toReversed()).slice(start, end + 1));
  };
  const queue = { getJobs } as never;
  const queues = { changes: queue, reloads: queue, resumes: queue, notifications: queue };
  return { lists: new JobLists(queues, () => now), read: () => reads, pass: (ms) => void (now += ms) };
}

describe('the jobs of a state', () => {
  it('are read once in two seconds, whoever asks for them, and anew after a write', async () => {
    const { lists, read, pass } = listsOf(3);
    await Promise.all([
      lists.newest(QUEUE, 'waiting'),
      lists.newest(QUEUE, 'waiting'),
      lists.oldest(QUEUE, 'waiting'),
    ]);
    pass(1_999);
    await lists.newest(QUEUE, 'waiting');
    expect(read()).toBe(1);
    pass(1);
    await lists.newest(QUEUE, 'waiting');
    expect(read()).toBe(2);
    lists.forget(QUEUE);
    await lists.newest(QUEUE, 'waiting');
    expect(read()).toBe(3);
  });

  it('are the newest where there are more than are looked at, and the oldest are found from the other end', async () => {
    const { lists } = listsOf(2_500);
    const newest = await lists.newest(QUEUE, 'failed');
    expect([newest.length, newest[0]?.id]).toEqual([2_000, '2499']);
    expect((await lists.oldest(QUEUE, 'failed'))[0]?.id).toBe('0');
  });
});

it('an id of a job is a number: other keys of a queue are none', () => {
  const isId = (id: string): boolean => jobParams.safeParse({ id }).success;
  expect(['reloads:1', 'notifications:1234'].map(isId)).toEqual([true, true]);
  expect(
    ['reloads:events', 'reloads:completed', 'reloads:wait', 'reloads:1:lock', 'reloads:'].some(isId),
  ).toBe(false);
});
