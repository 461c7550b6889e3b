import { describe, expect, it } from 'vitest';
import { DEFAULT_ANNOTATION_KEYS } from '../annotations/annotation-keys.ts';
import { recordOf, seenSource, seenWorkload, sourceRow } from '../testing/rows.ts';
import { ClusterState } from './cluster-state.ts';
import type { SourceKey } from '../model.ts';
import type { SourceRow } from './rows.ts';
import { inOneGo } from './slices.ts';
import { work } from '../work.ts';

const CM = 'ConfigMap/ns/cm';
const WEB = 'Deployment/ns/web';
const decision = { keys: DEFAULT_ANNOTATION_KEYS, autoReloadAll: false, ignoredWorkloadTypes: [] };

function allA(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, 'A']));
}

/** After a gap in which the source was written at 120, without a change of data, and the template at 125. */
function afterGap({ workloads = ['web'], sources = ['cm'] } = {}): ClusterState {
  const more = { uses: sources.map((name) => `ConfigMap/${name}`), record: recordOf(allA(sources)) };
  const before = new ClusterState({ decision, adoptedAt: 0 });
  for (const name of workloads) before.workloadWritten(seenWorkload(name, 20, more));
  const clusterState = new ClusterState({ decision, adoptedAt: 0 });
  clusterState.sourcesListed({
    scope: { kind: 'ConfigMap', namespace: '' },
    rv: '130',
    objects: sources.map((name) => seenSource(name, 120, 'A')),
    catalog: new Map(),
  });
  clusterState.workloadListBegins({ kind: 'Deployment', namespace: '' });
  clusterState.workloadsListed({
    scope: { kind: 'Deployment', namespace: '' },
    rv: '131',
    objects: workloads.map((name) => seenWorkload(name, 125, { template: 't2', ...more })),
    catalog: before.workloads,
  });
  return clusterState;
}

function doubtsOf(clusterState: ClusterState): readonly string[] {
  return [...clusterState.doubts.found()].flat();
}

function settle(clusterState: ClusterState, row: SourceRow): string | undefined {
  const rows = doubtsOf(clusterState).map((key) => [key as SourceKey, row] as const);
  if (clusterState.doubts.settle(new Map(rows))) inOneGo(clusterState.doubts.judge());
  return clusterState.pending.get(WEB)?.cause;
}

describe('a workload that a list leaves pending although it has recorded the data', () => {
  it('is in doubt', () => {
    const clusterState = afterGap();
    expect(clusterState.pending.get(WEB)?.cause).toBe('owed');
    expect(doubtsOf(clusterState)).toEqual([CM]);
  });

  it('is settled by a row of the catalog for the same write that dates the data earlier', () => {
    const clusterState = afterGap();
    const outbox = clusterState.outbox.sources.size;
    expect(settle(clusterState, sourceRow(120, 'A', { dataRv: '10' }))).toBeUndefined();
    expect(clusterState.sources.get(CM)).toEqual(sourceRow(120, 'A', { dataRv: '10' }));
    expect(clusterState.outbox.sources.size).toBe(outbox);
    expect(doubtsOf(clusterState)).toEqual([]);
  });

  it.each([
    ['an earlier write', sourceRow(10, 'A')],
    ['a later write', sourceRow(140, 'A', { dataRv: '10' })],
    ['other data', sourceRow(120, 'B', { dataRv: '10' })],
    ['a deletion', sourceRow(120, 'A', { dataRv: '10', exists: false })],
    ['a later date', sourceRow(120, 'A')],
  ])('stays pending if the catalog has %s', (_, row) => {
    const clusterState = afterGap();
    const held = clusterState.sources.get(CM);
    expect(settle(clusterState, row)).toBe('owed');
    expect(clusterState.sources.get(CM)).toBe(held);
  });
});

it('doubts nothing that is pending because of other data', () => {
  const clusterState = afterGap();
  clusterState.sourceWritten(seenSource('cm', 140, 'B'), { kind: 'ConfigMap', namespace: '' });
  expect(clusterState.pending.get(WEB)?.cause).toBe('owed');
  expect(doubtsOf(clusterState)).toEqual([]);
});

it('settles all users of a source at once', () => {
  const workloads = Array.from({ length: 100 }, (_, n) => `web-${n}`);
  const clusterState = afterGap({ workloads });
  expect(clusterState.pending.size).toBe(100);
  settle(clusterState, sourceRow(120, 'A', { dataRv: '10' }));
  expect(clusterState.pending.size).toBe(0);
});

it('reads at most 500 sources at once, and evaluates each workload once', () => {
  const sources = Array.from({ length: 600 }, (_, n) => `cm-${n}`);
  const clusterState = afterGap({ workloads: ['web', 'api'], sources });
  const portions = [...clusterState.doubts.found()];
  expect(Math.max(...portions.map(({ length }) => length))).toBeLessThanOrEqual(500);
  expect(new Set(portions.flat()).size).toBe(600);
  const row = sourceRow(120, 'A', { dataRv: '10' });
  clusterState.doubts.settle(new Map(portions.flat().map((key) => [key, row])));
  const before = work.sourceLookups;
  inOneGo(clusterState.doubts.judge());
  expect(work.sourceLookups - before).toBe(2 * 600);
  expect(clusterState.pending.size).toBe(0);
});

it('reads no source that is recorded and no dependency any more', () => {
  const clusterState = afterGap({ sources: ['cm', 'gone'] });
  expect(doubtsOf(clusterState)).toEqual([CM, 'ConfigMap/ns/gone']);
  const record = recordOf(allA(['cm', 'gone']));
  clusterState.workloadWritten(seenWorkload('web', 140, { template: 't2', uses: ['ConfigMap/cm'], record }));
  expect(doubtsOf(clusterState)).toEqual([CM]);
});
