import { describe, expect, it } from 'vitest';
import { DEFAULT_ANNOTATION_KEYS } from '../annotations/annotation-keys.ts';
import { recordOf, seenSource, seenWorkload, sourceRow } from '../testing/rows.ts';
import { ClusterState } from './cluster-state.ts';
import type { SourceRow, WorkloadRow } from './rows.ts';

const CM = 'ConfigMap/ns/cm';
const WEB = 'Deployment/ns/web';
const decision = { keys: DEFAULT_ANNOTATION_KEYS, autoReloadAll: false, ignoredWorkloadTypes: [] };

/** After a gap in which the source was written at 120, without a change of data, and the template at 125. */
function afterGap(): ClusterState {
  const before = new ClusterState({ decision, adoptedAt: 0 });
  before.workloadWritten(seenWorkload('web', 20, { record: recordOf({ cm: 'A' }) }));
  const known = before.workloads.get(WEB) as WorkloadRow;
  const clusterState = new ClusterState({ decision, adoptedAt: 0 });
  clusterState.sourcesListed({
    scope: { kind: 'ConfigMap', namespace: '' },
    rv: '130',
    objects: [seenSource('cm', 120, 'A')],
    catalog: new Map(),
  });
  clusterState.workloadListBegins({ kind: 'Deployment', namespace: '' });
  clusterState.workloadsListed({
    scope: { kind: 'Deployment', namespace: '' },
    rv: '131',
    objects: [seenWorkload('web', 125, { template: 't2', record: recordOf({ cm: 'A' }) })],
    catalog: new Map([[WEB, known]]),
  });
  return clusterState;
}

function settle(clusterState: ClusterState, row: SourceRow): string | undefined {
  for (const doubtful of clusterState.doubts.found())
    clusterState.doubts.settle(doubtful, new Map([[CM, row]]));
  return clusterState.pending.get(WEB)?.cause;
}

describe('a workload that a list leaves pending although it has recorded the data', () => {
  it('is in doubt', () => {
    const clusterState = afterGap();
    expect(clusterState.pending.get(WEB)?.cause).toBe('owed');
    expect([...clusterState.doubts.found()]).toEqual([new Map([[CM, [WEB]]])]);
  });

  it('is settled by a row of the catalog for the same write that dates the data earlier', () => {
    const clusterState = afterGap();
    const outbox = clusterState.outbox.sources.size;
    expect(settle(clusterState, sourceRow(120, 'A', { dataRv: '10' }))).toBeUndefined();
    expect(clusterState.sources.get(CM)).toEqual(sourceRow(120, 'A', { dataRv: '10' }));
    expect(clusterState.outbox.sources.size).toBe(outbox);
    expect([...clusterState.doubts.found()]).toEqual([]);
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
  expect([...clusterState.doubts.found()]).toEqual([new Map()]);
});
