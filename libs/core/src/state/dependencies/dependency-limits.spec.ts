import { describe, expect, it } from 'vitest';
import { DEFAULT_ANNOTATION_KEYS as KEYS } from '../../annotations/annotation-keys.ts';
import { DEFAULT_ANNOTATION_LIMITS } from '../../annotations/annotation-limits.ts';
import { writeRecord } from '../../record/record.ts';
import { seenSource, seenWorkload } from '../../testing/rows.ts';
import { workOf } from '../../work.ts';
import { ClusterState } from '../cluster-state.ts';
import type { ObservedSource, ObservedWorkload } from '../rows.ts';

const SOURCES = { kind: 'ConfigMap', namespace: '' };
const WORKLOADS = { kind: 'Deployment', namespace: '' };
const RELOAD = 'configmap.reloader.stakater.com/reload';
const MATCHES_ALL = { annotations: { [RELOAD]: 'cm-.*' }, uses: [] };
const WEB = 'Deployment/ns/web';

function clusterStateOf(
  limits: { sources?: number; namespaceSources?: number },
  sources: readonly ObservedSource[],
  workloads: readonly ObservedWorkload[] = [],
): ClusterState {
  const keys = { ...KEYS, limits: { ...DEFAULT_ANNOTATION_LIMITS, ...limits } };
  const decision = { keys, autoReloadAll: false, ignoredWorkloadTypes: [] };
  const clusterState = new ClusterState({ decision, adoptedAt: 50 });
  clusterState.sourcesListed({ scope: SOURCES, rv: '100', objects: sources, catalog: new Map() });
  clusterState.workloadListBegins(WORKLOADS);
  clusterState.workloadsListed({ scope: WORKLOADS, rv: '100', objects: workloads, catalog: new Map() });
  return clusterState;
}

function sourcesOf(count: number, namespace = 'ns'): ObservedSource[] {
  return Array.from({ length: count }, (_, index) =>
    seenSource(`cm-${index}`, 10, 'A', { key: `ConfigMap/${namespace}/cm-${index}` }),
  );
}

function dependenciesIn(clusterState: ClusterState, namespace = 'ns'): number[] {
  return [...clusterState.workloads]
    .filter(([key]) => key.split('/')[1] === namespace)
    .map(([, { dependencies }]) => dependencies.length);
}

function judgeAll(clusterState: ClusterState): void {
  while (clusterState.evaluation.slice()) continue;
}

/** Resyncs until the rows of deleted sources are dropped. */
function resyncs(clusterState: ClusterState, count = 8): void {
  for (let resync = 0; resync < count; resync += 1) {
    clusterState.intervalPassed();
    for (const _ of clusterState.prune()) continue;
    judgeAll(clusterState);
  }
}

describe('a workload whose patterns match more sources than --max-workload-sources', () => {
  const limits = { sources: 3 };
  const excess = { limit: 'sources', inNamespace: true, most: 3, given: 4 };

  it('has no dependency, and its owner is told', () => {
    const clusterState = clusterStateOf(limits, sourcesOf(4));
    clusterState.workloadWritten(seenWorkload('web', 120, MATCHES_ALL));
    expect(clusterState.workloads.get(WEB)).toMatchObject({ excess, dependencies: [], baselines: {} });
    expect(clusterState.outbox.reloads.get(WEB)).toBe('correct');
    clusterState.sourceWritten(seenSource('cm-0', 130, 'B'), SOURCES);
    expect(clusterState.pending.has(WEB)).toBe(false);
  });

  it('has all of them up to the limit', () => {
    const clusterState = clusterStateOf(limits, sourcesOf(3), [seenWorkload('web', 20, MATCHES_ALL)]);
    expect(dependenciesIn(clusterState)).toEqual([3]);
  });

  it('has none from the creation of the source that is one too many', () => {
    const clusterState = clusterStateOf(limits, sourcesOf(3), [seenWorkload('web', 20, MATCHES_ALL)]);
    clusterState.outbox.clear();
    clusterState.sourceWritten(seenSource('cm-9', 120, 'A'), SOURCES);
    expect(clusterState.workloads.get(WEB)).toMatchObject({ excess, dependencies: [] });
    expect(clusterState.outbox.reloads.get(WEB)).toBe('correct');
  });

  it('is not judged again for a write that changes nothing that decides', () => {
    const clusterState = clusterStateOf(limits, sourcesOf(4), [seenWorkload('web', 20, MATCHES_ALL)]);
    const spent = workOf(() => clusterState.workloadWritten(seenWorkload('web', 120, MATCHES_ALL)));
    expect(spent).toMatchObject({ decisions: 0, matchSteps: 0 });
    expect(clusterState.workloads.get(WEB)).toMatchObject({ excess });
  });

  it('is reloaded again once its owner has mended it', () => {
    const clusterState = clusterStateOf(limits, sourcesOf(4), [seenWorkload('web', 20, MATCHES_ALL)]);
    const mended = { annotations: { [RELOAD]: 'cm-[01]' }, uses: [] };
    clusterState.workloadWritten(seenWorkload('web', 120, mended));
    expect(clusterState.workloads.get(WEB)?.excess).toBeUndefined();
    expect(dependenciesIn(clusterState)).toEqual([2]);
    clusterState.sourceWritten(seenSource('cm-0', 130, 'B'), SOURCES);
    expect(clusterState.pending.get(WEB)?.cause).toBe('owed');
  });

  it('keeps its excess while it is counted again, so that no job is enqueued for what was counted', () => {
    const many = sourcesOf(3_000);
    const web = { ...MATCHES_ALL, record: writeRecord({ 'ConfigMap/cm-0': '1.old' }) };
    const clusterState = clusterStateOf({ sources: 2_900 }, many, [seenWorkload('web', 20, web)]);
    judgeAll(clusterState);
    clusterState.outbox.clear();
    for (const _ of clusterState.prune()) continue;
    let turns = 0;
    do {
      turns += 1;
      expect(clusterState.workloads.get(WEB)?.excess).toBeDefined();
    } while (clusterState.evaluation.slice());
    expect(turns).toBeGreaterThan(1);
    expect(clusterState.outbox.isEmpty()).toBe(true);
  });

  it('is judged again at resyncs, and reloaded for changes after sources are gone', () => {
    const clusterState = clusterStateOf(limits, sourcesOf(4), [seenWorkload('web', 20, MATCHES_ALL)]);
    clusterState.sourceWritten(seenSource('cm-0', 120, 'B'), SOURCES);
    resyncs(clusterState);
    expect(clusterState.workloads.get(WEB)).toMatchObject({ excess });
    clusterState.sourceDeleted('ConfigMap/ns/cm-3', '130', SOURCES);
    resyncs(clusterState);
    expect(clusterState.workloads.get(WEB)?.excess).toBeUndefined();
    expect(dependenciesIn(clusterState)).toEqual([3]);
    expect(clusterState.pending.get(WEB)?.cause).not.toBe('owed');
    clusterState.sourceWritten(seenSource('cm-0', 140, 'C'), SOURCES);
    expect(clusterState.pending.get(WEB)?.cause).toBe('owed');
  });
});

describe('workloads whose dependencies are together more than --max-namespace-sources', () => {
  /** Ten count for each of 30 dependencies, and two workloads have room. */
  const limits = { namespaceSources: 25 };
  const web = (index: number, namespace = 'ns'): ObservedWorkload =>
    seenWorkload(`web-${index}`, 120 + index, {
      ...MATCHES_ALL,
      namespace,
      key: `Deployment/${namespace}/web-${index}`,
    });

  it('have them as far as there is room, and other namespaces have all of theirs', () => {
    const clusterState = clusterStateOf(limits, [...sourcesOf(30), ...sourcesOf(30, 'other')]);
    for (let index = 0; index < 5; index += 1) clusterState.workloadWritten(web(index));
    clusterState.workloadWritten(web(9, 'other'));
    expect(dependenciesIn(clusterState)).toEqual([30, 30, 0, 0, 0]);
    expect(dependenciesIn(clusterState, 'other')).toEqual([30]);
    const excess = { limit: 'namespaceSources', inNamespace: true, most: 25, given: 26 };
    expect(clusterState.workloads.get('Deployment/ns/web-2')).toMatchObject({ excess });
  });

  it('do not count twenty of each', () => {
    const clusterState = clusterStateOf(limits, sourcesOf(20));
    for (let index = 0; index < 50; index += 1) clusterState.workloadWritten(web(index));
    expect(dependenciesIn(clusterState)).toEqual(Array<number>(50).fill(20));
  });

  it('count what records name, and are not indexed if there is no room', () => {
    const hashes = Object.fromEntries(
      Array.from({ length: 30 }, (_, index) => [`ConfigMap/x-${index}`, '1.A']),
    );
    const forged = { annotations: {}, uses: [], record: writeRecord(hashes) };
    const workloads = [1, 2, 3].map((index) => seenWorkload(`web-${index}`, 20, forged));
    const clusterState = clusterStateOf(limits, [], workloads);
    const indexed = workloads.map(({ key }) => clusterState.sourcesOf(key).length);
    expect(indexed).toEqual([30, 30, 0]);
    resyncs(clusterState, 2);
    expect(workloads.map(({ key }) => clusterState.sourcesOf(key).length)).toEqual([30, 30, 0]);
    clusterState.workloadDeleted('Deployment/ns/web-1');
    resyncs(clusterState, 1);
    expect(clusterState.sourcesOf('Deployment/ns/web-3')).toHaveLength(30);
    expect(clusterState.workloads.get('Deployment/ns/web-3')?.excess).toBeUndefined();
  });

  it('count short names in records, too, as none of Reroll has', () => {
    const record = writeRecord(
      Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`${index}`, ''])),
    );
    const forged = { annotations: {}, uses: [], record };
    const workloads = [1, 2].map((index) => seenWorkload(`web-${index}`, 20, forged));
    const clusterState = clusterStateOf(limits, [], workloads);
    expect(workloads.map(({ key }) => clusterState.sourcesOf(key).length)).toEqual([40, 0]);
  });

  it('have the limit that they exceed now, and their owners are told', () => {
    const clusterState = clusterStateOf({ sources: 31, namespaceSources: 25 }, sourcesOf(31));
    for (let index = 0; index < 3; index += 1) clusterState.workloadWritten(web(index));
    const last = 'Deployment/ns/web-2';
    const after = (resyncCount: number): unknown[] => {
      clusterState.outbox.clear();
      resyncs(clusterState, resyncCount);
      return [clusterState.workloads.get(last)?.excess?.limit, clusterState.outbox.reloads.get(last)];
    };
    expect(after(1)).toEqual(['namespaceSources', undefined]);
    clusterState.sourceWritten(seenSource('cm-98', 160, 'A'), SOURCES);
    expect(after(1)).toEqual(['sources', 'correct']);
    expect(after(1)).toEqual(['sources', undefined]);
    expect(dependenciesIn(clusterState)).toEqual([0, 0, 0]);
    clusterState.sourceDeleted('ConfigMap/ns/cm-98', '170', SOURCES);
    expect(after(8)).toEqual(['namespaceSources', 'correct']);
    expect(dependenciesIn(clusterState)).toEqual([31, 31, 0]);
  });

  it('leave room for others once they are gone or have fewer', () => {
    const clusterState = clusterStateOf(limits, sourcesOf(30));
    for (let index = 0; index < 4; index += 1) clusterState.workloadWritten(web(index));
    clusterState.workloadDeleted('Deployment/ns/web-0');
    const fewer = { ...web(1), rv: '150', annotations: { [RELOAD]: 'cm-1.*' } };
    clusterState.workloadWritten(fewer);
    resyncs(clusterState, 1);
    expect(dependenciesIn(clusterState)).toEqual([11, 30, 30]);
    const excess = [...clusterState.workloads.values()].filter((row) => row.excess !== undefined);
    expect(excess).toEqual([]);
  });

  it('are judged again some at a time, all in the end', () => {
    const clusterState = clusterStateOf(limits, sourcesOf(30));
    for (let index = 0; index < 62; index += 1) clusterState.workloadWritten(web(index));
    const decisions = workOf(() => resyncs(clusterState, 1)).decisions;
    expect(decisions).toBeLessThanOrEqual(25 * 30);
    clusterState.workloadDeleted('Deployment/ns/web-0');
    clusterState.workloadDeleted('Deployment/ns/web-1');
    resyncs(clusterState, 1);
    expect(dependenciesIn(clusterState).filter((count) => count === 30)).toHaveLength(2);
  });
});
