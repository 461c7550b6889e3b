import { HistoryJoin } from '@reroll/core/history/join';
import { changed } from '@reroll/core/testing/history';
import type { WorkloadKey } from '@reroll/core/model';
import type { Catalog } from '@reroll/redis/catalog/catalog';
import type { Rollouts } from '@reroll/redis/history/rollouts';
import { expect, it } from 'vitest';
import { LiveStates } from './live-states.ts';
import type { ReloadJobs } from './reload-jobs.ts';

const MOST = 5_000;

it('workloads beyond those looked up are not forgotten, because nobody knows whether they have a job', async () => {
  const asked: WorkloadKey[] = [];
  const none = { of: async () => new Map(), eachWorkloadOf: async function* () {} } as unknown;
  const jobs = {
    of: async (workloads: WorkloadKey[]) => {
      asked.push(...workloads);
      return await Promise.resolve(new Map());
    },
  } as unknown as ReloadJobs;
  const [catalog, rollouts] = [none as Catalog, none as Rollouts];
  const join = new HistoryJoin();
  const woken = Array.from({ length: MOST + 1 }, (_, n) => {
    return { workload: `Deployment/shop/w${n}`, reason: 'AutoReload', detail: '' } as const;
  });
  const pairs = join.addChange('1000-0', changed(1000, { woken }))?.pairs ?? [];
  const { stateOf } = await new LiveStates({ catalog, rollouts, jobs }).look(join, pairs);
  expect(asked).toHaveLength(MOST);
  const [found, beyond] = [pairs[MOST - 1], pairs[MOST]];
  expect([found && stateOf(found), beyond && stateOf(beyond)]).toEqual(['forgotten', 'pending']);
  expect(beyond?.isForgotten).toBe(false);
});
