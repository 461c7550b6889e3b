import { describe, expect, it } from 'vitest';
import { DEFAULT_ANNOTATION_KEYS } from '../annotations/annotation-keys.ts';
import { seenSource, seenWorkload } from '../testing/rows.ts';
import { entriesVisited } from '../testing/work.ts';
import { ClusterState } from './cluster-state.ts';
import { inOneGo } from './slices.ts';

const OBJECTS = 5;
const SOURCE_KINDS = ['ConfigMap', 'Secret'] as const;
const WORKLOAD_KINDS = ['Deployment', 'StatefulSet', 'DaemonSet'] as const;

function namespaces(count: number): ClusterState {
  const decision = { keys: DEFAULT_ANNOTATION_KEYS, autoReloadAll: false, ignoredWorkloadTypes: [] };
  const clusterState = new ClusterState({ decision, adoptedAt: 50 });
  for (let n = 0; n < count; n += 1) enter(clusterState, `ns${n}`);
  return clusterState;
}

function enter(clusterState: ClusterState, namespace: string): void {
  const each = Array.from({ length: OBJECTS }, (_, index) => index);
  for (const kind of SOURCE_KINDS) {
    const objects = each.map((n) => seenSource('', 10, 'A', { key: `${kind}/${namespace}/s${n}` }));
    clusterState.sourcesListed({ scope: { kind, namespace }, objects, rv: '100', catalog: new Map() });
  }
  for (const kind of WORKLOAD_KINDS) {
    clusterState.workloadListBegins({ kind, namespace });
    const objects = each.map((n) =>
      seenWorkload('', 20, { key: `${kind}/${namespace}/w${n}`, kind, namespace, uses: [`ConfigMap/s${n}`] }),
    );
    clusterState.workloadsListed({ scope: { kind, namespace }, objects, rv: '100', catalog: new Map() });
  }
}

describe('with many namespaces, each listed by itself', () => {
  it('the work of the start grows with the objects, not with their square', () => {
    const once = entriesVisited(() => namespaces(40));
    expect(entriesVisited(() => namespaces(80))).toBeLessThanOrEqual(2 * once);
  });

  it('a later list of one costs the same, however many others there are', () => {
    const [few, many] = [namespaces(10), namespaces(40)];
    const atFew = entriesVisited(() => enter(few, 'ns7'));
    expect(entriesVisited(() => enter(many, 'ns7'))).toBe(atFew);
  });

  it('to forget one costs the same, however many others there are', () => {
    const [few, many] = [namespaces(10), namespaces(40)];
    const atFew = entriesVisited(() => inOneGo(few.leave('ns7')));
    expect(entriesVisited(() => inOneGo(many.leave('ns7')))).toBe(atFew);
    expect(many.workloads.size).toBe(39 * OBJECTS * WORKLOAD_KINDS.length);
  });
});
