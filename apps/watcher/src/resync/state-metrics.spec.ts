import { DEFAULT_ANNOTATION_KEYS } from '@reroll/core/annotations/annotation-keys';
import { ClusterState } from '@reroll/core/state/cluster-state';
import { seenSource, seenWorkload } from '@reroll/core/testing/rows';
import { watcherMetrics } from '@reroll/shared/platform/metrics/watcher';
import { Registry } from 'prom-client';
import { beforeEach, describe, expect, it } from 'vitest';
import { StateMetrics } from './state-metrics.ts';

const SOURCES = { kind: 'ConfigMap', namespace: '' };
const ROLLOUTS = { kind: 'Rollout', namespace: '' };
const NOTHING = { rv: '9', objects: [], catalog: new Map() };

let clusterState: ClusterState;
let registry: Registry;
let counts: StateMetrics;

beforeEach(() => {
  const decision = { keys: DEFAULT_ANNOTATION_KEYS, autoReloadAll: false, ignoredWorkloadTypes: [] };
  clusterState = new ClusterState({ decision, adoptedAt: 0 });
  registry = new Registry();
  counts = new StateMetrics({ clusterState, metrics: watcherMetrics(registry), interval: 60_000 });
});

/** The lines of a metric after a count. */
async function counted(name: string): Promise<string[]> {
  await counts.count();
  const text = await registry.getSingleMetricAsString(name);
  return text.split('\n').filter((line) => line.startsWith(name));
}

describe('objects', () => {
  it('of a kind whose last object is gone, or its API with all of them, are counted as none', async () => {
    clusterState.sourcesListed({ ...NOTHING, scope: SOURCES, objects: [seenSource('cm', 1, 'a')] });
    clusterState.workloadListBegins(ROLLOUTS);
    const rollout = seenWorkload('web', 1, { key: 'Rollout/ns/web', kind: 'Rollout' });
    clusterState.workloadsListed({ ...NOTHING, scope: ROLLOUTS, objects: [rollout] });
    const both = async (): Promise<readonly string[]> =>
      (await counted('reroll_objects')).filter((line) => /"(ConfigMap|Rollout)"/.test(line));
    expect(await both()).toEqual(['reroll_objects{kind="ConfigMap"} 1', 'reroll_objects{kind="Rollout"} 1']);
    clusterState.sourceDeleted('ConfigMap/ns/cm', '10', SOURCES);
    clusterState.workloadsListed({ ...NOTHING, scope: ROLLOUTS });
    expect(await both()).toEqual(['reroll_objects{kind="ConfigMap"} 0', 'reroll_objects{kind="Rollout"} 0']);
  });
});
