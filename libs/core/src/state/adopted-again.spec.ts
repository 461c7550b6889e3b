import { describe, expect, it } from 'vitest';
import { DEFAULT_ANNOTATION_KEYS } from '../annotations/annotation-keys.ts';
import { seenSource, seenWorkload } from '../testing/rows.ts';
import { ClusterState } from './cluster-state.ts';
import type { SourceRow, WorkloadRow } from './rows.ts';

/** An installation that gets a wider scope: what it did not watch before is adopted at that time, and what came after is pending. */
const SOURCES = { kind: 'ConfigMap', namespace: '' };
const WORKLOADS = { kind: 'Deployment', namespace: '' };
const WEB = 'Deployment/ns/web';
const WRITTEN = 1_000;

interface Catalog {
  readonly sources: ReadonlyMap<string, SourceRow>;
  readonly workloads: ReadonlyMap<string, WorkloadRow>;
}

/** A watcher that lists a Deployment of resourceVersion 20 without annotations, and a ConfigMap that was written later, at `WRITTEN`. */
interface Settings {
  readonly autoReloadAll: boolean;
  readonly adoptedAt: number;
  readonly isScopeNew?: boolean;
  readonly modifiedAt?: number;
}

function listed(settings: Settings, catalog?: Catalog): ClusterState {
  const { autoReloadAll, adoptedAt, isScopeNew = true, modifiedAt = WRITTEN } = settings;
  const decision = { keys: DEFAULT_ANNOTATION_KEYS, autoReloadAll, ignoredWorkloadTypes: [] };
  const clusterState = new ClusterState({ decision, adoptedAt, isScopeNew });
  const source = seenSource('cm', 30, 'B', { modifiedAt });
  const workload = seenWorkload('web', 20, { annotations: {}, createdAt: 100, generation: 3 });
  const none = new Map();
  clusterState.sourcesListed({
    scope: SOURCES,
    rv: '100',
    objects: [source],
    catalog: catalog?.sources ?? none,
  });
  clusterState.workloadListBegins(WORKLOADS);
  clusterState.workloadsListed({
    scope: WORKLOADS,
    rv: '100',
    objects: [workload],
    catalog: catalog?.workloads ?? none,
  });
  return clusterState;
}

/** What a leader left behind that did not reload the workload. */
function before(): Catalog {
  const { sources, workloads } = listed({ autoReloadAll: false, adoptedAt: 50 });
  expect(workloads.get(WEB)?.dependencies).toEqual([]);
  return { sources: new Map(sources), workloads: new Map(workloads) };
}

describe('a workload that nothing asked to reload before', () => {
  it.each<[string, () => Catalog | undefined]>([
    ['of which the catalog has a row', before],
    ['of which it has none', () => undefined],
  ])('%s is recorded, as stale, if its source was not written since the scope changed', (_which, rows) => {
    const clusterState = listed({ autoReloadAll: true, adoptedAt: WRITTEN }, rows());
    expect(clusterState.pending.get(WEB)?.cause).toBe('correct');
    expect(clusterState.workloads.get(WEB)).toMatchObject({
      dependencies: ['ConfigMap/cm'],
      stale: ['ConfigMap/cm'],
    });
  });

  it.each<[string, () => Catalog | undefined]>([
    ['of which the catalog has a row', before],
    ['of which it has none', () => undefined],
  ])('%s is pending if its source was written after that', (_which, rows) => {
    const clusterState = listed({ autoReloadAll: true, adoptedAt: WRITTEN - 1 }, rows());
    expect(clusterState.pending.get(WEB)?.cause).toBe('owed');
  });

  it.each<[string, Partial<Settings>]>([
    ['if leaders before had the same scope', { isScopeNew: false }],
    ['if nothing tells when its source was written', { modifiedAt: 0 }],
  ])('of which the catalog has a row is pending %s', (_when, more) => {
    const clusterState = listed({ autoReloadAll: true, adoptedAt: WRITTEN, ...more }, before());
    expect(clusterState.pending.get(WEB)?.cause).toBe('owed');
  });
});
