import { HistoryJoin } from '@reroll/core/history/join';
import type { LiveJob } from '@reroll/core/history/states';
import { partsOf, type WorkloadKey } from '@reroll/core/model';
import { inStep, reloaded, retrying } from '@reroll/core/testing/history';
import { workloadRow } from '@reroll/core/testing/rows';
import { expect, it } from 'vitest';
import { NamespacesAsked } from '../history/namespaces-asked.ts';
import { placeOf } from './key-index.ts';
import type { ObjectFacts } from './object-facts.ts';
import { listWorkloads } from './object-lists.ts';

const ALL = ['api', 'cron', 'db', 'gone', 'job', 'web'].map((name) => `Deployment/shop/${name}` as const);
const OTHER: WorkloadKey = 'Deployment/bank/ledger';
const REQUEST = { id: '1', actor: 'ann', reason: 'r' };
const JOB: LiveJob = { id: '1', state: 'waiting', until: null, made: 0, most: 5 };

/** All pages of one workload each, by name, and how many rows and jobs were read for them. `live`: the workloads with a new job. */
async function listed(query: object, join: HistoryJoin, live: readonly WorkloadKey[] = []) {
  const read: WorkloadKey[] = [];
  let jobsRead = 0;
  const jobs = {
    of: async (keys: readonly WorkloadKey[]) => {
      jobsRead += keys.length;
      return new Map(live.filter((key) => keys.includes(key)).map((key) => [key, JOB] as const));
    },
  };
  const facts = {
    workloads: {
      snapshot: async () => ({
        places: [...ALL, OTHER].map(placeOf).sort(),
        marks: new Map([['Deployment/shop/api', 'owed']]),
      }),
    },
    eachWorkloadFacts: async function* (keys: WorkloadKey[]) {
      read.push(...keys);
      yield keys
        .filter((key) => !key.endsWith('/gone'))
        .map((key) => ({
          key,
          row: workloadRow(),
          due: key.endsWith('/api') ? 'owed' : null,
          rollout: undefined,
        }));
    },
  } as unknown as ObjectFacts;
  const namespaces = new NamespacesAsked({ all: false, sees: async (namespace) => namespace === 'shop' });
  const names: string[] = [];
  let after: string | undefined;
  do {
    const page = await listWorkloads({ limit: 1, ...query }, after, { facts, join, jobs, namespaces });
    names.push(...page.items.map(({ key }) => partsOf(key).name));
    after = page.last;
  } while (after !== undefined);
  return { names, read: read.length, jobsRead };
}

it('lists what was recorded as stale and not reloaded since, and reads no other row', async () => {
  const join = new HistoryJoin();
  const stale = { state: 'recorded', reason: 'StaleAtAdoption' } as const;
  for (const [at, workload] of [...ALL.slice(1), OTHER].entries())
    join.addOutcome(`${1000 + at}-0`, inStep(1000, { ...stale, workload }));
  join.addOutcome('2000-0', reloaded(2000, { workload: 'Deployment/shop/cron' }));
  join.addOutcome('2001-0', inStep(2000, { workload: 'Deployment/shop/db' }));
  expect(await listed({ due: 'stale' }, join)).toEqual({ names: ['db', 'job', 'web'], read: 4, jobsRead: 0 });
  expect(await listed({ due: 'stale', name: 'we' }, join)).toEqual({ names: ['web'], read: 1, jobsRead: 0 });
  expect(await listed({ due: 'owed' }, join)).toEqual({ names: ['api'], read: 1, jobsRead: 0 });
  expect((await listed({}, join)).names).toEqual(['api', 'cron', 'db', 'job', 'web']);
});

it('lists what failed as lastAttempt says, by the history, and reads no other row or job', async () => {
  const join = new HistoryJoin();
  const failed = { state: 'failed', reason: 'ApiUnavailable' } as const;
  const request = REQUEST;
  let at = 1000;
  const add = (name: string, entry: object): void => {
    at += 1;
    join.addOutcome(`${at}-0`, retrying(at, { ...entry, workload: `Deployment/shop/${name}` }));
  };
  // All but `api` have nothing pending.
  add('api', failed);
  for (const name of ['cron', 'db', 'web', 'job', 'gone']) add(name, { ...failed, request });
  add('cron', { state: 'unchanged', reason: 'InStep' });
  add('db', { state: 'reloaded', reason: 'AutoReload' });
  add('job', { state: 'retrying', reason: 'ApiUnavailable' });
  // Of many others, and of one that the caller does not see, nothing is read.
  for (let index = 0; index < 500; index += 1) add(`other-${index}`, { state: 'reloaded' });
  join.addOutcome('9000-0', retrying(9000, { ...failed, workload: OTHER }));
  const query = { due: 'failed' };
  const of = async (...live: WorkloadKey[]) => await listed(query, join, live);
  // The attempt at what was pending was tried again, but nothing is pending any more.
  expect(await of()).toEqual({ names: ['api', 'cron', 'job', 'web'], read: 5, jobsRead: 4 });
  expect(await of('Deployment/shop/api')).toEqual({ names: ['cron', 'job', 'web'], read: 5, jobsRead: 4 });
});

it('of failures without a request, nothing is listed or read once nothing is pending', async () => {
  const join = new HistoryJoin();
  const failed = { state: 'failed', reason: 'ApiUnavailable' } as const;
  for (const [at, name] of ['api', 'web'].entries())
    join.addOutcome(`${1000 + at}-0`, retrying(1000, { ...failed, workload: `Deployment/shop/${name}` }));
  expect(await listed({ due: 'failed' }, join)).toEqual({ names: ['api'], read: 1, jobsRead: 1 });
});

it('of failures of workloads that were deleted, nothing is read', async () => {
  const join = new HistoryJoin();
  const failed = { state: 'failed', reason: 'ApiUnavailable', request: REQUEST } as const;
  for (const [at, name] of ['api', 'deleted'].entries())
    join.addOutcome(`${1000 + at}-0`, retrying(1000, { ...failed, workload: `Deployment/shop/${name}` }));
  expect(await listed({ due: 'failed' }, join)).toEqual({ names: ['api'], read: 1, jobsRead: 1 });
});
