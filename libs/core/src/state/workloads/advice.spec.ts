import { describe, expect, it } from 'vitest';
import { DEFAULT_ANNOTATION_KEYS } from '../../annotations/annotation-keys.ts';
import { AUTO, recordOf, seenSource, seenWorkload } from '../../testing/rows.ts';
import { unusablePatterns } from './advice.ts';
import { ClusterState } from '../cluster-state.ts';
import type { ObservedWorkload } from '../rows.ts';

const WEB = 'Deployment/ns/web';
const SOURCES = { kind: 'ConfigMap', namespace: '' };
const WORKLOADS = { kind: 'Deployment', namespace: '' };
const INVALID = { 'configmap.reloader.stakater.com/reload': 'good,bad[' };
const SECRET = { key: 'Secret/ns/s' } as const;

function clusterStateWith(...workloads: readonly ObservedWorkload[]): ClusterState {
  const decision = { keys: DEFAULT_ANNOTATION_KEYS, autoReloadAll: false, ignoredWorkloadTypes: [] };
  const clusterState = new ClusterState({ decision, adoptedAt: 50 });
  clusterState.sourcesListed({
    scope: SOURCES,
    rv: '100',
    objects: [seenSource('cm', 10, 'A'), seenSource('s', 10, 'A', SECRET)],
    catalog: new Map(),
  });
  clusterState.workloadListBegins(WORKLOADS);
  clusterState.workloadsListed({ scope: WORKLOADS, rv: '100', objects: workloads, catalog: new Map() });
  return clusterState;
}

function reloadsOf(clusterState: ClusterState): [string, string][] {
  const reloads = [...clusterState.outbox.reloads];
  clusterState.outbox.clear();
  return reloads;
}

describe('a worker looks at a workload of which nothing is pending, at its leisure,', () => {
  it.each<[string, Partial<ObservedWorkload>]>([
    ['if a pattern of it cannot be used', { annotations: INVALID, uses: [] }],
    [
      'if a pattern of its pod template cannot be used',
      { annotations: {}, podAnnotations: INVALID, uses: [] },
    ],
    ['if its reload limit cannot be read', { annotations: { 'reroll.dev/reload-limit': 'lots' }, uses: [] }],
    ['if it uses a Secret that is not seen', { uses: ['Secret/unseen'] }],
    [
      'if it names a Secret that is not seen',
      { annotations: { 'secret.reloader.stakater.com/reload': 'unseen' }, uses: [] },
    ],
  ])('%s', (_, more) => {
    expect(reloadsOf(clusterStateWith(seenWorkload('web', 20, more)))).toEqual([[WEB, 'correct']]);
  });

  it('and again when it asks for something else, not when it is only written', () => {
    const asking = { annotations: INVALID, uses: [] };
    const clusterState = clusterStateWith(seenWorkload('web', 20, asking));
    clusterState.outbox.clear();
    clusterState.workloadWritten(seenWorkload('web', 110, { ...asking, template: 't2', generation: 2 }));
    expect(reloadsOf(clusterState)).toEqual([]);
    clusterState.workloadWritten(
      seenWorkload('web', 120, { ...asking, annotations: { ...INVALID, ...AUTO } }),
    );
    expect(reloadsOf(clusterState)).toEqual([[WEB, 'correct']]);
  });

  it('and again when the lead is taken, or the catalog was lost; no resync enqueues it', () => {
    const clusterState = clusterStateWith(seenWorkload('web', 20, { annotations: INVALID, uses: [] }));
    clusterState.outbox.clear();
    for (const _ of clusterState.resync()) continue;
    expect(reloadsOf(clusterState)).toEqual([]);
    clusterState.assertAll();
    expect(reloadsOf(clusterState)).toEqual([[WEB, 'correct']]);
  });
});

describe('no worker looks at a workload', () => {
  it.each<[string, Partial<ObservedWorkload>]>([
    ['that has what it asks for', { record: recordOf({ cm: 'A' }) }],
    ['that uses a ConfigMap that is not there', { uses: ['ConfigMap/unseen'] }],
    ['that asks for nothing', { annotations: {}, uses: ['Secret/unseen'] }],
  ])('%s', (_, more) => {
    expect(reloadsOf(clusterStateWith(seenWorkload('web', 20, more)))).toEqual([]);
  });
});

describe('a pattern that cannot be used', () => {
  it('is told once, wherever it is, with what is wrong with it', () => {
    const { configMapReload, secretReload } = DEFAULT_ANNOTATION_KEYS;
    const errors = unusablePatterns(
      { annotations: { [configMapReload]: 'a[,b.*' }, podAnnotations: { [secretReload]: 'a[,c(' } },
      DEFAULT_ANNOTATION_KEYS,
    );
    expect(errors.map(({ pattern }) => pattern)).toEqual(['a[', 'c(']);
    expect(errors.every(({ error }) => error !== '')).toBe(true);
  });
});
