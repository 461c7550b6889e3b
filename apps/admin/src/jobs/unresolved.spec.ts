import { HistoryJoin } from '@reroll/core/history/join';
import type { LiveJob } from '@reroll/core/history/states';
import { EXPLAIN_SETTINGS } from '@reroll/core/testing/explaining';
import type { OutcomeEntry } from '@reroll/core/history/entries';
import { changed, CONFIG, inStep, reloaded, retrying, WEB } from '@reroll/core/testing/history';
import type { SourceKey, WorkloadKey } from '@reroll/core/model';
import { workloadRow } from '@reroll/core/testing/rows';
import { jobsQuery } from '@reroll/shared/api/queues';
import type { PendingCause } from '@reroll/core/state/outbox';
import { describe, expect, it, vi } from 'vitest';
import { anonymousReader } from '../auth/static-tokens.ts';
import { JobsController } from '../controllers/jobs.controller.ts';
import type { ReadModel } from '../history/read-model.ts';
import type { ReloadJobs } from '../history/reload-jobs.ts';
import type { Cursors } from '../http/cursors.ts';
import type { Input } from '../http/operation-types.ts';
import type { ObjectFacts } from '../objects/object-facts.ts';
import type { Writes } from '../steering/writes.ts';
import type { FoundJob, JobBoard } from './job-board.ts';
import type { JobRetries } from './job-retries.ts';

/** When the jobs failed. */
const ENDED = 10_000;
const MINUTE = 60_000;
const LIVE: LiveJob = { id: '2', state: 'waiting', until: null, made: 0, most: 5 };

interface World {
  readonly join?: (join: HistoryJoin) => void;
  /** Of the workload, which uses the source; undefined: it is gone. */
  readonly due?: PendingCause | null | undefined;
  readonly resumeAt?: number;
  /** The job that the workload has now. */
  readonly job?: Partial<LiveJob>;
  /** `--webhook-url`. */
  readonly notifyOnly?: boolean;
}

type Facts = Pick<ObjectFacts, 'eachWorkloadFacts' | 'owing' | 'settings' | 'usersOf'> & {
  readonly workloads: Pick<ObjectFacts['workloads'], 'snapshot'>;
};

/** Facts of workloads that have something pending, or exist without; undefined: gone. */
function factsOf(
  dueOf: (key: WorkloadKey) => PendingCause | null | undefined,
  { resumeAt, notifyOnly = false }: Pick<World, 'resumeAt' | 'notifyOnly'> = {},
  marks: ReadonlyMap<WorkloadKey, PendingCause> = marksOf(dueOf(WEB)),
): Facts & { reads: () => number } {
  let reads = 0;
  return {
    reads: () => reads,
    workloads: { snapshot: () => Promise.resolve({ places: [], marks }) },
    settings: () => Promise.resolve({ ...EXPLAIN_SETTINGS, notifyOnly }),
    usersOf: () => Promise.resolve([WEB]),
    owing: (users) =>
      Promise.resolve(new Set([...users].filter(([, found]) => found.length > 0).map(([source]) => source))),
    async *eachWorkloadFacts(keys: readonly WorkloadKey[]) {
      if (keys.length > 0) reads += 1;
      const found = { row: workloadRow({ resumeAt }), rollout: undefined };
      const portion = keys.flatMap((key) => {
        const due = dueOf(key);
        return due === undefined ? [] : [{ key, due, ...found }];
      });
      yield await Promise.resolve(portion);
    },
  };
}

function marksOf(due: PendingCause | null | undefined): Map<WorkloadKey, PendingCause> {
  return new Map(due ? [[WEB, due]] : []);
}

function failedJob(id: string, data: object, at = 1): FoundJob['job'] {
  const job = { id, data, timestamp: at, finishedOn: ENDED + at, delay: 0, attemptsMade: 3, opts: {} };
  return job as unknown as FoundJob['job'];
}

/** The page of a list of jobs of these queues, all of which failed. */
async function pageOf(
  jobs: readonly FoundJob[],
  facts: Facts,
  { query, join = new HistoryJoin(), job }: { query: object; join?: HistoryJoin; job?: World['job'] },
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
    {
      of: (keys: readonly WorkloadKey[]) =>
        Promise.resolve(new Map(job ? keys.map((key) => [key, { ...LIVE, ...job }]) : [])),
    } as unknown as ReloadJobs,
    {} as JobRetries,
  );
  const input = { query: jobsQuery.parse(query), caller: anonymousReader() };
  const { items, next } = await controller.list(input as unknown as Input<'listJobs'>);
  return { ids: items.map(({ id }) => id), next };
}

/** The jobs that a list of one failed job of this queue has. */
async function listed(
  queue: 'reloads' | 'changes' | 'resumes' | 'notifications',
  { join: history, job: now, ...world }: World,
  query: object = { unresolved: 'true' },
): Promise<string[]> {
  const join = new HistoryJoin();
  history?.(join);
  const data = queue === 'changes' ? { source: CONFIG } : { workload: WEB };
  const job = failedJob('1', data);
  const facts = factsOf(() => ('due' in world ? world.due : 'owed'), world);
  const by = { query, join, ...(now ? { job: now } : {}) };
  const { ids } = await pageOf([{ queue, state: 'failed', job }], facts, by);
  return ids;
}

const failed = (at: number, more: object = {}) =>
  retrying(at - 5, { state: 'failed', reason: 'ApiUnavailable', ...more });

const REQUEST = { id: '1', actor: 'ann', reason: 'r' };

/** A failed manual reload, and what came later. */
const asked =
  (...later: readonly OutcomeEntry[]) =>
  (join: HistoryJoin): void => {
    join.addOutcome('10000-0', failed(ENDED, { request: REQUEST }));
    for (const entry of later) join.addOutcome(`${entry.at}-0`, entry);
  };

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
    ['is resolved while a new job waits', { job: {} }, false],
    ['is unresolved while a job only looks again at a hold', { job: { isHeld: true } }, true],
    ['is unresolved if a correction is pending', { due: 'correct' }, true],
    ['is unresolved if somebody asked for it', { due: null, join: asked() }, true],
    [
      'is unresolved if somebody asked for it, and later only the record was written',
      { due: null, join: asked(inStep(20_000, { state: 'recorded', reason: 'BroughtByOwner' })) },
      true,
    ],
    [
      'is unresolved if somebody asked for it, and a job for something else had nothing to do later',
      { due: null, join: asked(inStep(20_000)) },
      true,
    ],
    [
      'is resolved if somebody asked for it, and the workload was reloaded later',
      { due: null, join: asked(reloaded(20_000)) },
      false,
    ],
    [
      'is resolved if somebody asked for it, and again',
      { due: null, join: asked(inStep(20_000, { request: { ...REQUEST, id: '2' } })) },
      false,
    ],
    [
      'is unresolved if somebody asked for it, and a later reload was held until nothing was pending',
      { due: null, join: asked(inStep(20_000, { reason: 'Frozen' })) },
      true,
    ],
    [
      'is resolved if somebody asked for it, and a later reload is held',
      { due: 'owed', join: asked(inStep(20_000, { reason: 'Frozen' })) },
      false,
    ],
    [
      'is resolved if somebody asked for it, and the workload is gone',
      { due: undefined, join: asked() },
      false,
    ],
  ])('%s', async (_, world, isListed) => {
    expect(await listed('reloads', world)).toEqual(isListed ? ['reloads:1'] : []);
  });

  it('is in a list that asks for all', async () => {
    expect(await listed('reloads', { due: undefined }, {})).toEqual(['reloads:1']);
  });
});

it.each<[string, World, boolean]>([
  [
    'is unresolved without a later change',
    { join: (join) => join.addChange('9000-0', changed(9_000)) },
    true,
  ],
  [
    'is resolved once a later change was taken up',
    { join: (join) => join.addChange('20000-0', changed(20_000)) },
    false,
  ],
  ['is resolved once a resync has reloaded all that use it', { due: null }, false],
  ['is resolved if only a record is behind', { due: 'correct' }, false],
  ['is unresolved if it was to be posted to a webhook', { due: null, notifyOnly: true }, true],
])('a failed job of a source %s', async (_, world, isListed) => {
  expect(await listed('changes', world)).toEqual(isListed ? ['changes:1'] : []);
});

it('a failed resume is resolved if the workload is not paused any more, paused anew, or gone, and a notification never', async () => {
  expect(await listed('resumes', { due: null, resumeAt: 1 })).toEqual(['resumes:1']);
  expect(await listed('resumes', { due: null, resumeAt: ENDED + MINUTE })).toEqual([]);
  expect(await listed('resumes', { due: null })).toEqual([]);
  expect(await listed('resumes', { due: undefined })).toEqual([]);
  expect(await listed('notifications', { due: undefined })).toEqual(['notifications:1']);
});

it.each<[string, readonly string[], number, readonly string[], string[]]>([
  ['none of its users is', ['other'], 0, [], []],
  ['one of its users is because of it', ['web', 'other'], 1, [CONFIG], ['changes:0']],
  ['one of its users is because of another source', ['web'], 1, [], []],
  // As if one of them were because of it.
  ['more of its users are than are looked at', ['web', ...manyNames(20)], 0, [], ['changes:0']],
  ['as many of its users are as are looked at', ['web', ...manyNames(19)], 20, [], []],
])('with reloads pending in its namespace, the rows of users of a source are read: %s', async (...row) => {
  const [, users, rows, owing, expected] = row;
  const asked: string[] = [];
  let read = 0;
  const marks = ['web', ...manyNames(40)].map((name) => [`Deployment/shop/${name}`, 'owed'] as const);
  const facts: Facts = {
    ...factsOf(() => 'owed', {}, new Map(marks)),
    usersOf: (source) => {
      asked.push(source);
      return Promise.resolve(users.map((name) => `Deployment/shop/${name}` as const));
    },
    owing: (of) => {
      read += [...of.values()].flat().length;
      return Promise.resolve(new Set(owing as SourceKey[]));
    },
  };
  // Nothing is pending in the namespace of the other one.
  const sources = [CONFIG, 'Secret/bank/db'];
  const jobs = sources.map((source, index) => failedJob(`${index}`, { source }, index + 1));
  const found = jobs.map((job) => ({ queue: 'changes', state: 'failed', job }) as const);
  expect((await pageOf(found, facts, { query: { unresolved: 'true' } })).ids).toEqual(expected);
  expect([asked, read]).toEqual([[CONFIG], rows]);
});

it('for a page, the users of at most five times as many sources are asked for as it has places', async () => {
  let asked = 0;
  const looks: number[] = [];
  const facts: Facts = {
    ...factsOf(() => 'owed'),
    usersOf: () => {
      asked += 1;
      return Promise.resolve([WEB]);
    },
    owing: (of) => {
      looks.push(of.size);
      return Promise.resolve(new Set());
    },
  };
  const jobs = manyNames(70).map((name, index) =>
    failedJob(`${index}`, { source: `Secret/shop/${name}` }, index + 1),
  );
  const found = jobs.map((job) => ({ queue: 'changes', state: 'failed', job }) as const);
  const { ids, next } = await pageOf(found, facts, { query: { unresolved: 'true', limit: '10' } });
  expect([ids, next]).toEqual([[], '21 changes:20']);
  expect([asked, looks]).toEqual([50, [10, 10, 10, 10, 10]]);
});

function manyNames(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `many-${index}`);
}

describe('a page of unresolved jobs', () => {
  /** A failed reload of each workload, oldest first. */
  const reloadsOf = (names: readonly string[]): FoundJob[] =>
    names.map((name, index) => {
      const job = failedJob(`${index}`, { workload: `Deployment/shop/${name}` }, index + 1);
      return { queue: 'reloads', state: 'failed', job };
    });
  const gone = (count: number): string[] => Array.from({ length: count }, (_, index) => `gone-${index}`);
  /** All whose names begin with `gone` do not exist. `indexed`: what was pending at the last scan. */
  const factsWithout = (indexed: readonly string[]) => {
    const marks = new Map(indexed.map((name) => [`Deployment/shop/${name}` as const, 'owed' as const]));
    return factsOf((key) => (key.includes('/gone') ? undefined : 'owed'), {}, marks);
  };

  it('has an older one that is needed, after any number of others that are not', async () => {
    const facts = factsWithout(['web']);
    const jobs = reloadsOf(['web', ...gone(1_500)]);
    expect(await pageOf(jobs, facts, { query: { unresolved: 'true', limit: '200' } })).toEqual({
      ids: ['reloads:0'],
      next: null,
    });
    expect(facts.reads()).toBe(1);
  });

  it('ends after some reads if the last scan is old, and the next goes on there', async () => {
    const names = ['web', ...gone(70)];
    const facts = factsWithout(names);
    const jobs = reloadsOf(names);
    const first = await pageOf(jobs, facts, { query: { unresolved: 'true', limit: '10' } });
    expect(first).toEqual({ ids: [], next: '22 reloads:21' });
    expect(facts.reads()).toBe(5);
    const query = { unresolved: 'true', limit: '10', cursor: first.next };
    expect(await pageOf(jobs, facts, { query })).toEqual({ ids: ['reloads:0'], next: null });
  });

  it('has only the last of several of one workload, but each notification', async () => {
    const facts = factsWithout(['web', 'db']);
    const jobs = reloadsOf(['web', 'web', 'db', 'web']);
    expect((await pageOf(jobs, facts, { query: { unresolved: 'true' } })).ids).toEqual([
      'reloads:3',
      'reloads:2',
    ]);
    const told = jobs.map((found) => ({ ...found, queue: 'notifications' as const }));
    expect((await pageOf(told, facts, { query: { unresolved: 'true' } })).ids).toHaveLength(4);
  });

  it('looks at the history of a workload once, however many of its jobs have failed', async () => {
    const join = new HistoryJoin();
    join.addOutcome('10000-0', failed(ENDED));
    const looks = vi.spyOn(join, 'workload');
    const jobs = reloadsOf(Array.from({ length: 1_000 }, () => 'web'));
    const query = { unresolved: 'true' };
    expect((await pageOf(jobs, factsWithout(['web']), { query, join })).ids).toEqual(['reloads:999']);
    expect(looks).toHaveBeenCalledOnce();
  });
});
