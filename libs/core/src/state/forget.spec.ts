import { describe, expect, it } from 'vitest';
import { DEFAULT_ANNOTATION_KEYS } from '../annotations/annotation-keys.ts';
import { recordOf, seenSource, seenWorkload, sourceRow, workloadRow } from '../testing/rows.ts';
import { ClusterState } from './cluster-state.ts';
import type { ObservedSource, ObservedWorkload } from './rows.ts';
import { inOneGo } from './slices.ts';

const SOURCES = { kind: 'ConfigMap', namespace: 'ns' };
const WORKLOADS = { kind: 'Deployment', namespace: 'ns' };
const CM = 'ConfigMap/ns/cm';
const WEB = 'Deployment/ns/web';
const NOTHING = { catalog: new Map() };
const NEW = { createdAt: 60, modifiedAt: 70 };

interface Found {
  sources?: ObservedSource[];
  workloads?: ObservedWorkload[];
  /** Default true. */
  entering?: boolean;
}

/** One namespace, `ns` or another, comes into the cluster state's scope. */
function enter(clusterState: ClusterState, rv: number, found: Found, namespace = 'ns'): void {
  const { sources = [], workloads = [], entering = true } = found;
  const list = { ...NOTHING, rv: String(rv), entering };
  clusterState.sourcesListed({ ...list, scope: { ...SOURCES, namespace }, objects: sources });
  clusterState.workloadListBegins({ ...WORKLOADS, namespace });
  clusterState.workloadsListed({ ...list, scope: { ...WORKLOADS, namespace }, objects: workloads });
}

function scoped(onDelete: 'never' | 'always' = 'never'): ClusterState {
  const decision = { keys: DEFAULT_ANNOTATION_KEYS, autoReloadAll: false, ignoredWorkloadTypes: [] };
  const triggers = { onCreate: false, onDelete, afterRestart: false };
  return new ClusterState({ decision, adoptedAt: 50, triggers });
}

function inStep(clusterState: ClusterState = scoped()): ClusterState {
  enter(clusterState, 100, {
    sources: [seenSource('cm', 10, 'A')],
    workloads: [seenWorkload('web', 20, { record: recordOf({ cm: 'A' }) })],
  });
  clusterState.outbox.clear();
  return clusterState;
}

function elsewhere(clusterState: ClusterState): void {
  const key = 'ConfigMap/ns-2/cm';
  const workload = seenWorkload('web', 20, { key: 'Deployment/ns-2/web', namespace: 'ns-2' });
  enter(clusterState, 90, { sources: [seenSource('cm', 10, 'A', { key })], workloads: [workload] }, 'ns-2');
}

describe('a namespace that leaves the scope', () => {
  it('leaves nothing behind, and is taken out of the catalog', () => {
    const clusterState = inStep();
    clusterState.sourceWritten(seenSource('cm', 110, 'B'), SOURCES);
    clusterState.enqueueRequested([WEB]);
    inOneGo(clusterState.leave('ns'));
    expect([clusterState.sources.size, clusterState.workloads.size, clusterState.pending.size]).toEqual([
      0, 0, 0,
    ]);
    const { sources, workloads, changes, reloads, resumes } = clusterState.outbox;
    expect([...sources, ...workloads]).toEqual([CM, WEB]);
    expect([...changes, ...reloads, ...resumes]).toEqual([]);
    expect(clusterState.sourcesOf(WEB)).toEqual([]);
  });

  it('harms no other, not even one whose name begins or ends alike', () => {
    const clusterState = inStep();
    elsewhere(clusterState);
    clusterState.outbox.clear();
    inOneGo(clusterState.leave('ns'));
    inOneGo(clusterState.leave('2'));
    expect([...clusterState.sources.keys(), ...clusterState.workloads.keys()]).toEqual([
      'ConfigMap/ns-2/cm',
      'Deployment/ns-2/web',
    ]);
    const key = 'ConfigMap/ns-2/cm';
    clusterState.sourceWritten(seenSource('cm', 110, 'B', { key }), { ...SOURCES, namespace: 'ns-2' });
    expect([...clusterState.outbox.changes]).toEqual([key]);
    expect([...clusterState.pending].map(([web, { cause }]) => [web, cause])).toEqual([
      ['Deployment/ns-2/web', 'owed'],
    ]);
  });

  it('may leave and come a thousand times: nothing piles up', () => {
    const clusterState = inStep();
    for (let turn = 0; turn < 1_000; turn += 1) {
      inOneGo(clusterState.leave('ns'));
      inStep(clusterState);
    }
    expect([clusterState.sources.size, clusterState.workloads.size, clusterState.pending.size]).toEqual([
      1, 1, 0,
    ]);
    clusterState.sourceWritten(seenSource('cm', 110, 'B'), SOURCES);
    expect([...clusterState.outbox.changes]).toEqual([CM]);
  });
});

describe('a namespace that comes back', () => {
  it('with the data that is recorded has nothing pending', () => {
    const clusterState = inStep();
    inOneGo(clusterState.leave('ns'));
    inStep(clusterState);
    expect([...clusterState.pending]).toEqual([]);
  });

  it('with other data than is recorded has it pending, though nobody saw the change', () => {
    const clusterState = inStep();
    inOneGo(clusterState.leave('ns'));
    const web = seenWorkload('web', 20, { record: recordOf({ cm: 'A' }) });
    enter(clusterState, 200, { sources: [seenSource('cm', 150, 'B')], workloads: [web] });
    expect([...clusterState.outbox.reloads]).toEqual([[WEB, 'owed']]);
  });

  it.each(['never', 'always'] as const)(
    'without a source that was deleted meanwhile has no deletion pending (onDelete: %s)',
    (onDelete) => {
      const clusterState = inStep(scoped(onDelete));
      inOneGo(clusterState.leave('ns'));
      const web = seenWorkload('web', 20, { record: recordOf({ cm: 'A' }) });
      enter(clusterState, 200, { workloads: [web] });
      expect([...clusterState.pending]).toEqual([]);
      // What is made later under its name is judged by the record.
      clusterState.sourceWritten(seenSource('cm', 210, 'B'), SOURCES);
      expect([...clusterState.outbox.reloads]).toEqual([[WEB, 'owed']]);
    },
  );

  it('has a change pending that was made inside and not rolled before it left', () => {
    const clusterState = inStep();
    clusterState.sourceWritten(seenSource('cm', 110, 'B'), SOURCES);
    inOneGo(clusterState.leave('ns'));
    const web = seenWorkload('web', 20, { record: recordOf({ cm: 'A' }) });
    enter(clusterState, 200, { sources: [seenSource('cm', 110, 'B')], workloads: [web] });
    expect([...clusterState.outbox.reloads]).toEqual([[WEB, 'owed']]);
  });
});

describe('a namespace that comes into scope for the first time', () => {
  const found = {
    sources: [seenSource('cm', 90, 'B', { modifiedAt: NEW.modifiedAt })],
    workloads: [seenWorkload('web', 20, { createdAt: NEW.createdAt })],
  };

  it('is adopted as it is, whatever changed there since the install, and what may be old is listed as stale', () => {
    const clusterState = scoped();
    elsewhere(clusterState);
    clusterState.outbox.clear();
    enter(clusterState, 200, found);
    expect([...clusterState.outbox.reloads]).toEqual([[WEB, 'correct']]);
    expect(clusterState.workloads.get(WEB)).toMatchObject({
      stale: ['ConfigMap/cm'],
      // Of its own sources: that another namespace is quiet says nothing.
      baselines: { 'ConfigMap/cm': '200' },
    });
  });

  it('has every change pending from then on', () => {
    const clusterState = scoped();
    enter(clusterState, 200, found);
    clusterState.sourceWritten(seenSource('cm', 201, 'C'), SOURCES);
    expect(clusterState.pending.get(WEB)).toMatchObject({ cause: 'owed' });
  });

  it('unlike one that was in scope already, where nobody knows a workload after a gap', () => {
    const clusterState = scoped();
    enter(clusterState, 200, { ...found, entering: false });
    expect([...clusterState.outbox.reloads]).toEqual([[WEB, 'owed']]);
  });

  it('and what the catalog has of it is believed at a start', () => {
    const clusterState = scoped();
    const rows = { rv: '200', entering: false } as const;
    const catalog = new Map([[CM, sourceRow(10, 'A')]]);
    clusterState.sourcesListed({ ...rows, scope: SOURCES, objects: found.sources, catalog });
    clusterState.workloadListBegins(WORKLOADS);
    const row = workloadRow({ uid: 'uid-web', rv: '20', baselines: { 'ConfigMap/cm': '30' } });
    clusterState.workloadsListed({
      ...rows,
      scope: WORKLOADS,
      objects: found.workloads,
      catalog: new Map([[WEB, row]]),
    });
    expect([...clusterState.outbox.reloads]).toEqual([[WEB, 'owed']]);
  });
});
