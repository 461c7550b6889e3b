import { HistoryJoin } from '@reroll/core/history/join';
import { changed, CONFIG, reloaded, retrying, WEB } from '@reroll/core/testing/history';
import { workloadRow } from '@reroll/core/testing/rows';
import { jobsQuery } from '@reroll/shared/api/queues';
import type { PendingCause } from '@reroll/core/state/outbox';
import { describe, expect, it } from 'vitest';
import { anonymousReader } from '../auth/static-tokens.ts';
import { JobsController } from '../controllers/jobs.controller.ts';
import type { ReadModel } from '../history/read-model.ts';
import type { Cursors } from '../http/cursors.ts';
import type { Input } from '../http/operation-types.ts';
import type { ObjectFacts } from '../objects/object-facts.ts';
import type { Writes } from '../steering/writes.ts';
import type { JobBoard } from './job-board.ts';

/** When the jobs failed. */
const ENDED = 10_000;

interface World {
  readonly join?: (join: HistoryJoin) => void;
  /** Of the workload; undefined: it is gone. */
  readonly due?: PendingCause | null | undefined;
  readonly resumeAt?: number;
}

/** The jobs that a list of one failed job of this queue has. */
async function listed(
  queue: 'reloads' | 'changes' | 'resumes' | 'notifications',
  { join: history, resumeAt, ...world }: World,
  query: object = { unresolved: 'true' },
): Promise<string[]> {
  const join = new HistoryJoin();
  history?.(join);
  const data = queue === 'changes' ? { source: CONFIG } : { workload: WEB };
  const job = { id: '1', data, timestamp: 1, finishedOn: ENDED, delay: 0, attemptsMade: 3, opts: {} };
  const board = {
    jobs: (name: string, state: string) =>
      Promise.resolve(name === queue && state === 'failed' ? [{ queue, state, job }] : []),
  };
  const due = 'due' in world ? world.due : 'owed';
  const facts = {
    async *eachWorkloadFacts(keys: readonly string[]) {
      const found = { row: workloadRow({ resumeAt }), due, rollout: undefined };
      yield await Promise.resolve(due === undefined ? [] : keys.map((key) => ({ key, ...found })));
    },
  };
  const cursors = { read: () => undefined, next: () => null };
  const controller = new JobsController(
    cursors as unknown as Cursors,
    board as unknown as JobBoard,
    {} as Writes,
    { contents: { join } } as ReadModel,
    facts as unknown as ObjectFacts,
  );
  const input = { query: jobsQuery.parse(query), caller: anonymousReader() };
  const { items } = await controller.list(input as unknown as Input<'listJobs'>);
  return items.map(({ id }) => id);
}

const failed = (at: number, more: object = {}) =>
  retrying(at - 5, { state: 'failed', reason: 'ApiUnavailable', ...more });

describe('a failed reload', () => {
  it.each<[string, World, boolean]>([
    ['is unresolved without a history', {}, true],
    [
      'is unresolved while its own outcome is the latest',
      { join: (join) => join.addOutcome('10000-0', failed(ENDED)) },
      true,
    ],
    [
      'is unresolved if the outcome of its failure is lost',
      { join: (join) => join.addOutcome('9000-0', reloaded(8_995)) },
      true,
    ],
    [
      'is unresolved if a later one failed, too',
      { join: (join) => join.addOutcome('20000-0', failed(20_000)) },
      true,
    ],
    [
      'is resolved once a later one was done',
      { join: (join) => join.addOutcome('20000-0', reloaded(19_995)) },
      false,
    ],
    [
      'is resolved while a later one is tried',
      { join: (join) => join.addOutcome('20000-0', retrying(19_995)) },
      false,
    ],
    ['is resolved if its workload is gone', { due: undefined }, false],
    ['is resolved if nothing is pending any more', { due: null }, false],
    [
      'is unresolved if somebody asked for it',
      {
        due: null,
        join: (join) =>
          join.addOutcome('10000-0', failed(ENDED, { request: { id: '1', actor: 'ann', reason: 'r' } })),
      },
      true,
    ],
  ])('%s', async (_, world, isListed) => {
    expect(await listed('reloads', world)).toEqual(isListed ? ['reloads:1'] : []);
  });

  it('is in a list that asks for all', async () => {
    expect(await listed('reloads', { due: undefined }, {})).toEqual(['reloads:1']);
  });
});

it.each<[string, (join: HistoryJoin) => void, boolean]>([
  ['is unresolved without a later change', (join) => join.addChange('9000-0', changed(9_000)), true],
  [
    'is resolved once a later change was taken up',
    (join) => join.addChange('20000-0', changed(20_000)),
    false,
  ],
])('a failed job of a source %s', async (_, join, isListed) => {
  expect(await listed('changes', { join })).toEqual(isListed ? ['changes:1'] : []);
});

it('a failed resume is resolved if the workload is not paused any more or gone, and a notification never', async () => {
  expect(await listed('resumes', { due: null, resumeAt: 1 })).toEqual(['resumes:1']);
  expect(await listed('resumes', { due: null })).toEqual([]);
  expect(await listed('resumes', { due: undefined })).toEqual([]);
  expect(await listed('notifications', { due: undefined })).toEqual(['notifications:1']);
});
