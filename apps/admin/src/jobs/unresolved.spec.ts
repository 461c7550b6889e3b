import { HistoryJoin } from '@reroll/core/history/join';
import { changed, CONFIG, reloaded, retrying, WEB } from '@reroll/core/testing/history';
import type { WorkloadKey } from '@reroll/core/model';
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
import type { FoundJob, JobBoard } from './job-board.ts';

/** When the jobs failed. */
const ENDED = 10_000;
const MINUTE = 60_000;

interface World {
  readonly join?: (join: HistoryJoin) => void;
  /** Of the workload; undefined: it is gone. */
  readonly due?: PendingCause | null | undefined;
  readonly resumeAt?: number;
}

function failedJob(id: string, data: object, at = 1): FoundJob['job'] {
  const job = { id, data, timestamp: at, finishedOn: ENDED + at, delay: 0, attemptsMade: 3, opts: {} };
  return job as unknown as FoundJob['job'];
}

/** The page of a list of jobs of these queues, all of which failed. */
async function pageOf(
  jobs: readonly FoundJob[],
  facts: Pick<ObjectFacts, 'eachWorkloadFacts'>,
  { query, join = new HistoryJoin() }: { query: object; join?: HistoryJoin },
): Promise<{ ids: string[]; next: unknown }> {
  const board = {
    jobs: (name: string, state: string) =>
      Promise.resolve(state === 'failed' ? jobs.filter(({ queue }) => queue === name) : []),
  };
  const cursors = { read: (cursor: unknown) => cursor, next: (last: unknown) => last ?? null };
  const controller = new JobsController(
    cursors as unknown as Cursors,
    board as unknown as JobBoard,
    {} as Writes,
    { contents: { join } } as ReadModel,
    facts as unknown as ObjectFacts,
  );
  const input = { query: jobsQuery.parse(query), caller: anonymousReader() };
  const { items, next } = await controller.list(input as unknown as Input<'listJobs'>);
  return { ids: items.map(({ id }) => id), next };
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
  const job = failedJob('1', data);
  const due = 'due' in world ? world.due : 'owed';
  const facts = {
    async *eachWorkloadFacts(keys: readonly WorkloadKey[]) {
      const found = { row: workloadRow({ resumeAt }), due: due ?? null, rollout: undefined };
      yield await Promise.resolve(due === undefined ? [] : keys.map((key) => ({ key, ...found })));
    },
  };
  const { ids } = await pageOf([{ queue, state: 'failed', job }], facts, { query, join });
  return ids;
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

it('a failed resume is resolved if the workload is not paused any more, paused anew, or gone, and a notification never', async () => {
  expect(await listed('resumes', { due: null, resumeAt: 1 })).toEqual(['resumes:1']);
  expect(await listed('resumes', { due: null, resumeAt: ENDED + MINUTE })).toEqual([]);
  expect(await listed('resumes', { due: null })).toEqual([]);
  expect(await listed('resumes', { due: undefined })).toEqual([]);
  expect(await listed('notifications', { due: undefined })).toEqual(['notifications:1']);
});

describe('a page of unresolved jobs', () => {
  /** A failed reload of each workload, oldest first. */
  const reloadsOf = (names: readonly string[]): FoundJob[] =>
    names.map((name, index) => {
      const job = failedJob(`${index}`, { workload: `Deployment/shop/${name}` }, index + 1);
      return { queue: 'reloads', state: 'failed', job };
    });
  /** All whose names begin with `gone` do not exist. */
  const factsWithout = () => {
    let reads = 0;
    const facts = {
      async *eachWorkloadFacts(keys: readonly WorkloadKey[]) {
        reads += 1;
        const found = { row: workloadRow(), due: 'owed' as const, rollout: undefined };
        const left = keys.filter((key) => !key.includes('/gone'));
        yield await Promise.resolve(left.map((key) => ({ key, ...found })));
      },
    };
    return { facts, reads: () => reads };
  };
  const gone = (count: number): string[] => Array.from({ length: count }, (_, index) => `gone-${index}`);

  it('has an older one that is needed after a page of others that are not', async () => {
    const { facts } = factsWithout();
    const jobs = reloadsOf(['web', ...gone(200)]);
    expect(await pageOf(jobs, facts, { query: { unresolved: 'true', limit: '200' } })).toEqual({
      ids: ['reloads:0'],
      next: null,
    });
  });

  it('ends after some reads, and the next goes on there', async () => {
    const { facts, reads } = factsWithout();
    const jobs = reloadsOf(['web', ...gone(70)]);
    const first = await pageOf(jobs, facts, { query: { unresolved: 'true', limit: '10' } });
    expect(first).toEqual({ ids: [], next: '22 reloads:21' });
    expect(reads()).toBe(5);
    const query = { unresolved: 'true', limit: '10', cursor: first.next };
    expect(await pageOf(jobs, facts, { query })).toEqual({ ids: ['reloads:0'], next: null });
  });

  it('has only the last of several of one workload, but each notification', async () => {
    const { facts } = factsWithout();
    const jobs = reloadsOf(['web', 'web', 'db', 'web']);
    expect((await pageOf(jobs, facts, { query: { unresolved: 'true' } })).ids).toEqual([
      'reloads:3',
      'reloads:2',
    ]);
    const told = jobs.map((found) => ({ ...found, queue: 'notifications' as const }));
    expect((await pageOf(told, facts, { query: { unresolved: 'true' } })).ids).toHaveLength(4);
  });
});
