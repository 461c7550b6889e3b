import { HistoryJoin } from '@reroll/core/history/join';
import type { OutcomeEntry } from '@reroll/core/history/entries';
import { inStep, reloaded, retrying, WEB } from '@reroll/core/testing/history';
import { describe, expect, it } from 'vitest';
import { anonymousReader } from '../auth/static-tokens.ts';
import type { ReadModel } from '../history/read-model.ts';
import { ProblemError } from '../http/problem-error.ts';
import type { ReloadWrites } from '../steering/reload-writes.service.ts';
import type { JobBoard } from './job-board.ts';
import { JobRetries } from './job-retries.ts';

const ID = 'reloads:7';
const BY = {
  caller: { ...anonymousReader(), mayChange: () => Promise.resolve(true) },
  body: { reason: 'fixed' },
};

interface World {
  /** The job; undefined: it has ended. */
  readonly job?: { readonly queue?: string; readonly state?: string; readonly since?: number };
  readonly outcomes?: readonly OutcomeEntry[];
  readonly mayReload?: boolean;
}

/** Retries, and what they do, in order. */
function retriesIn(of: World) {
  const done: unknown[] = [];
  const { job, outcomes = [], mayReload = true } = of;
  const { queue = 'reloads', state = 'failed', since = 1_000 } = job ?? {};
  const found = job && { queue, state, job: { data: { workload: WEB, since } } };
  const board = {
    find: () => Promise.resolve(found),
    retry: () => Promise.resolve(void done.push('retried')),
  } as unknown as JobBoard;
  const join = new HistoryJoin();
  for (const entry of outcomes) join.addOutcome(`${entry.at}-0`, entry);
  const reloads = {
    reload: (asked: { params: unknown; body: unknown }) => ({
      allow: () => (mayReload ? Promise.resolve() : Promise.reject(new ProblemError('Forbidden'))),
      run: () => Promise.resolve(void done.push([asked.params, asked.body])),
    }),
  } as unknown as ReloadWrites;
  const model = { contents: { join } } as ReadModel;
  return { done, retries: new JobRetries(board, model, reloads) };
}

it('a job that has ended is not found', async () => {
  const { allow, target } = await retriesIn({}).retries.write(ID, BY);
  await expect(allow()).rejects.toMatchObject({ code: 'NotFound' });
  expect(target).toBe(ID);
});

it('a job that is known and has ended cannot be retried, but its earlier answer may be given to who has the right', async () => {
  const { retries } = retriesIn({});
  const { allow, run, target } = await retries.write(ID, { ...BY, subject: WEB });
  expect(await allow()).toBeUndefined();
  await expect(run()).rejects.toMatchObject({ code: 'NotFound' });
  expect(target).toBe(`${ID} ${WEB}`);
  const without = await retries.write(ID, { ...BY, caller: anonymousReader(), subject: WEB });
  await expect(without.allow()).rejects.toMatchObject({ code: 'Forbidden' });
});

describe('a retry of a job whose manual reload has failed', () => {
  const request = { id: '1-0123456789', actor: 'ann', reason: 'new keys' };
  const failed = retrying(1_000, { state: 'failed', reason: 'Invalid', at: 5_000, request });
  const again = [{ kind: 'Deployment', namespace: 'shop', name: 'web' }, { reason: 'fixed' }];

  it.each<[string, World, boolean]>([
    ['requests it again', { job: {}, outcomes: [failed] }, true],
    ['also if another job had nothing to do since', { job: {}, outcomes: [failed, inStep(6_000)] }, true],
    ['not if the workload was reloaded since', { job: {}, outcomes: [failed, reloaded(6_000)] }, false],
    ['not if it is requested still', { job: {}, outcomes: [{ ...failed, reason: 'ApiUnavailable' }] }, false],
    ['not for another failed job of the workload', { job: { since: 900 }, outcomes: [failed] }, false],
    ['not for a job that waits', { job: { state: 'delayed' }, outcomes: [failed] }, false],
    ['not for a job of another queue', { job: { queue: 'resumes' }, outcomes: [failed] }, false],
    [
      'not for a reload that nobody requested',
      { job: {}, outcomes: [{ ...failed, request: undefined }] },
      false,
    ],
  ])('%s', async (_, world, isRequested) => {
    const { done, retries } = retriesIn(world);
    const { allow, run } = await retries.write(ID, BY);
    await allow();
    await run();
    expect(done).toEqual([...(isRequested ? [again] : []), 'retried']);
  });

  it('needs the rights of a manual reload', async () => {
    const { retries } = retriesIn({ job: {}, outcomes: [failed], mayReload: false });
    await expect((await retries.write(ID, BY)).allow()).rejects.toMatchObject({ code: 'Forbidden' });
  });
});
