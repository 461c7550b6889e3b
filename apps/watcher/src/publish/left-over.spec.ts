import { expect, test } from 'vitest';
import type { SourceKey, WorkloadKey } from '@reroll/core/model';
import { leftOverIn } from './left-over.ts';

type Context = Parameters<typeof leftOverIn>[0];

/** A catalog with these rows: sources with whether they exist, and workloads. */
function catalogOf(sources: readonly (readonly [string, boolean])[], workloads: readonly string[]) {
  async function* rows<Row>(all: readonly (readonly [string, Row])[], isMeant: (key: never) => boolean) {
    yield all.filter(([key]) => isMeant(key as never));
  }
  return {
    eachSource: (isMeant: (key: SourceKey) => boolean) =>
      rows(
        sources.map(([key, exists]) => [key, { exists }] as const),
        isMeant,
      ),
    eachWorkload: (isMeant: (key: WorkloadKey) => boolean) =>
      rows(
        workloads.map((key) => [key, {}] as const),
        isMeant,
      ),
  };
}

test('rows are left over if their objects are gone, or if their namespace is or was out of scope', async () => {
  const known = ['Secret/old/known', 'Deployment/old/known'];
  const clusterState = {
    sources: new Map(known.map((key) => [key, {}])),
    workloads: new Map(known.map((key) => [key, {}])),
  };
  const catalog = catalogOf(
    [
      ['Secret/ns/deleted', false],
      ['Secret/ns/unseen', true],
      ['Secret/old/unseen', true],
      ['Secret/old/known', true],
    ],
    ['Deployment/ns/gone', 'Rollout/ns/undecided', 'Job/old/undecided', 'Deployment/old/known'],
  );
  const found = await leftOverIn({ clusterState, catalog } as unknown as Context, {
    isUndecided: (key) => key.endsWith('/undecided'),
    isOutdated: (namespace) => namespace === 'old',
  });
  expect(found).toEqual({
    sources: ['Secret/ns/deleted', 'Secret/old/unseen'],
    workloads: ['Deployment/ns/gone', 'Job/old/undecided'],
  });
});
