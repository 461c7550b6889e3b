import { describe, expect, it } from 'vitest';
import { DEFAULT_ANNOTATION_KEYS } from '../../annotations/annotation-keys.ts';
import { recordOf, seenSource, seenWorkload, sourceRow } from '../../testing/rows.ts';
import { INTERVALS_KEPT } from './deleted-sources.ts';
import { ClusterState } from '../cluster-state.ts';
import type { ObservedWorkload } from '../rows.ts';
import { NO_TRIGGERS, type Triggers } from '../settings.ts';

const SOURCES = { kind: 'ConfigMap', namespace: '' };
const WORKLOADS = { kind: 'Deployment', namespace: '' };
const CM = 'ConfigMap/ns/cm';
const WEB = 'Deployment/ns/web';
const BY_PATTERN = { uses: [], annotations: { 'configmap.reloader.stakater.com/reload': 'c.*' } };

function clusterStateOf(workloads: ObservedWorkload[], triggers: Triggers = NO_TRIGGERS): ClusterState {
  const decision = { keys: DEFAULT_ANNOTATION_KEYS, autoReloadAll: false, ignoredWorkloadTypes: [] };
  const clusterState = new ClusterState({ decision, adoptedAt: 50, triggers });
  clusterState.sourcesListed({ scope: SOURCES, rv: '100', objects: [], catalog: new Map() });
  clusterState.workloadListBegins(WORKLOADS);
  clusterState.workloadsListed({ scope: WORKLOADS, rv: '100', objects: workloads, catalog: new Map() });
  return clusterState;
}

function resync(clusterState: ClusterState, times = INTERVALS_KEPT + 1): void {
  for (let n = 0; n < times; n += 1) {
    clusterState.intervalPassed();
    for (const _ of clusterState.prune()) continue;
  }
}

function createAndDelete(clusterState: ClusterState, name: string, rv: number): void {
  clusterState.sourceWritten(seenSource(name, rv, 'A'), SOURCES);
  clusterState.sourceDeleted(`ConfigMap/ns/${name}`, String(rv + 1), SOURCES);
}

describe('of a deleted source', () => {
  it('nothing is left, of a thousand that nobody names, and each is removed from the catalog', () => {
    const clusterState = clusterStateOf([]);
    for (let n = 0; n < 1_000; n += 1) createAndDelete(clusterState, `cm-${n}`, 200 + 2 * n);
    clusterState.outbox.clear();
    resync(clusterState, INTERVALS_KEPT);
    expect(clusterState.sources.size).toBe(1_000);
    resync(clusterState, 1);
    expect(clusterState.sources.size).toBe(0);
    expect([...clusterState.sourcesIn({ kind: 'ConfigMap', namespace: 'ns' })]).toEqual([]);
    expect(clusterState.outbox.sources.size).toBe(1_000);
  });

  it('that is found deleted at a start, the row of the catalog is dropped in the same way', () => {
    const clusterState = clusterStateOf([]);
    const catalog = new Map([[CM, sourceRow(10, 'A')]]);
    clusterState.sourcesListed({ scope: SOURCES, rv: '110', objects: [], catalog });
    resync(clusterState);
    expect(clusterState.sources.size).toBe(0);
  });

  it.each<[string, Partial<ObservedWorkload>]>([
    ['uses it', {}],
    ['mentions it', { uses: [], mentions: ['ConfigMap/cm'] }],
    ['names it', { uses: [], annotations: { 'configmap.reloader.stakater.com/reload': 'cm' } }],
    ['has it recorded', { uses: [], record: recordOf({ cm: 'A' }) }],
  ])('the row stays as long as a workload %s', (_how, more) => {
    const clusterState = clusterStateOf([seenWorkload('web', 20, more)]);
    createAndDelete(clusterState, 'cm', 110);
    resync(clusterState);
    expect([...clusterState.sources.keys()]).toEqual([CM]);
    clusterState.workloadWritten(seenWorkload('web', 120, { uses: [], annotations: {}, generation: 2 }));
    resync(clusterState, 1);
    expect(clusterState.sources.size).toBe(0);
  });

  it('that only a pattern means, nothing is left, and the workload depends on it no more', () => {
    const clusterState = clusterStateOf([seenWorkload('web', 20, BY_PATTERN)]);
    createAndDelete(clusterState, 'cm', 110);
    expect(clusterState.workloads.get(WEB)?.dependencies).toEqual(['ConfigMap/cm']);
    clusterState.outbox.clear();
    resync(clusterState);
    expect(clusterState.workloads.get(WEB)).toMatchObject({ dependencies: [], baselines: {}, stale: [] });
    expect(clusterState.sourcesOf(WEB)).toEqual([]);
    expect(clusterState.outbox.workloads.has(WEB)).toBe(true);
    clusterState.sourceWritten(seenSource('cm', 150, 'B'), SOURCES);
    expect(clusterState.workloads.get(WEB)?.dependencies).toEqual(['ConfigMap/cm']);
    expect(clusterState.pending.get(WEB)?.cause).toBe('correct');
  });

  it('the row stays as long as its deletion is pending', () => {
    const clusterState = clusterStateOf([seenWorkload('web', 20, BY_PATTERN)], {
      ...NO_TRIGGERS,
      onDelete: 'always',
    });
    createAndDelete(clusterState, 'cm', 110);
    resync(clusterState);
    expect(clusterState.pending.get(WEB)?.cause).toBe('owed');
    expect(clusterState.sources.size).toBe(1);
  });

  it('that is back nothing is dropped', () => {
    const clusterState = clusterStateOf([]);
    createAndDelete(clusterState, 'cm', 110);
    clusterState.sourceWritten(seenSource('cm', 120, 'A'), SOURCES);
    resync(clusterState);
    expect([...clusterState.sources.keys()]).toEqual([CM]);
  });

  it('for which a workload is late, the deletion still counts', () => {
    const clusterState = clusterStateOf([], { ...NO_TRIGGERS, onDelete: 'always' });
    createAndDelete(clusterState, 'cm', 110);
    resync(clusterState, INTERVALS_KEPT);
    clusterState.workloadWritten(seenWorkload('web', 105, { record: recordOf({ cm: 'A' }) }));
    resync(clusterState);
    expect(clusterState.pending.get(WEB)?.cause).toBe('owed');
  });
});
