import { describe, expect, it, vi } from 'vitest';
import type { Workload } from '@reroll/shared/api/workloads';
import { WorkloadLooks } from './workload-looks.ts';

const called = (name: string): Workload => ({ name }) as Workload;

describe('looking at workloads one by one', () => {
  it('asks again only for those that are new, after a while, and after a deed of the reader', async () => {
    const looks = new WorkloadLooks();
    const ask = vi.fn((key: string) => Promise.resolve(called(key)));
    await looks.look(['a', 'b'], ask, { epoch: 0, now: 0 });
    const { details } = await looks.look(['a', 'b', 'c'], ask, { epoch: 0, now: 5_000 });
    expect([...details.keys()]).toEqual(['a', 'b', 'c']);
    expect(ask.mock.calls.flat()).toEqual(['a', 'b', 'c']);
    await looks.look(['a', 'c'], ask, { epoch: 0, now: 10_000 });
    expect(ask.mock.calls.flat()).toEqual(['a', 'b', 'c', 'a']);
    await looks.look(['a'], ask, { epoch: 1, now: 10_001 });
    expect(ask).toHaveBeenCalledTimes(5);
  });

  it('keeps what was known of one that fails beside the others, and leaves out one that is gone', async () => {
    const looks = new WorkloadLooks();
    await looks.look(['a', 'b'], (key) => Promise.resolve(called(key)), { epoch: 0, now: 0 });
    const failure = new Error('no answer');
    const answer = await looks.look(
      ['a', 'b', 'c'],
      (key) => (key === 'b' ? Promise.resolve(undefined) : Promise.reject(failure)),
      { epoch: 0, now: 20_000 },
    );
    expect(answer).toEqual({ details: new Map([['a', called('a')]]), error: failure, knownAt: undefined });
  });

  it('tells since when it knows the one that it could not ask for again', async () => {
    const looks = new WorkloadLooks();
    await looks.look(['a'], (key) => Promise.resolve(called(key)), { epoch: 0, now: 1_000 });
    const ask = (key: string): Promise<Workload> =>
      key === 'a' ? Promise.reject(new Error('no answer')) : Promise.resolve(called(key));
    await looks.look(['a', 'b'], ask, { epoch: 0, now: 20_000 });
    const { knownAt } = await looks.look(['a', 'b'], ask, { epoch: 0, now: 40_000 });
    expect(knownAt).toEqual(new Date(1_000));
  });
});
