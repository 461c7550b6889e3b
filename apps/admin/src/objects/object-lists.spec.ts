import { HistoryJoin } from '@reroll/core/history/join';
import { partsOf, type WorkloadKey } from '@reroll/core/model';
import { inStep, reloaded } from '@reroll/core/testing/history';
import { workloadRow } from '@reroll/core/testing/rows';
import { expect, it } from 'vitest';
import { NamespacesAsked } from '../history/namespaces-asked.ts';
import { placeOf } from './key-index.ts';
import type { ObjectFacts } from './object-facts.ts';
import { listWorkloads } from './object-lists.ts';

const ALL = ['api', 'cron', 'db', 'gone', 'web'].map((name) => `Deployment/shop/${name}` as const);
const OTHER: WorkloadKey = 'Deployment/bank/ledger';

/** All pages of one workload each, by name, and how many rows were read for them. */
async function listed(query: object, join: HistoryJoin) {
  const read: WorkloadKey[] = [];
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
    const page = await listWorkloads({ limit: 1, ...query }, after, { facts, join, namespaces });
    names.push(...page.items.map(({ key }) => partsOf(key).name));
    after = page.last;
  } while (after !== undefined);
  return { names, read: read.length };
}

it('lists what was recorded as stale and not reloaded since, and reads no other row', async () => {
  const join = new HistoryJoin();
  const stale = { state: 'recorded', reason: 'StaleAtAdoption' } as const;
  for (const [at, workload] of [...ALL.slice(1), OTHER].entries())
    join.addOutcome(`${1000 + at}-0`, inStep(1000, { ...stale, workload }));
  join.addOutcome('2000-0', reloaded(2000, { workload: 'Deployment/shop/cron' }));
  join.addOutcome('2001-0', inStep(2000, { workload: 'Deployment/shop/db' }));
  expect(await listed({ due: 'stale' }, join)).toEqual({ names: ['db', 'web'], read: 3 });
  expect(await listed({ due: 'stale', name: 'we' }, join)).toEqual({ names: ['web'], read: 1 });
  expect(await listed({ due: 'owed' }, join)).toEqual({ names: ['api'], read: 1 });
  expect((await listed({}, join)).names).toEqual(['api', 'cron', 'db', 'web']);
});
