import { setImmediate as nextTurn } from 'node:timers/promises';
import { DEFAULT_ANNOTATION_KEYS } from '@reroll/core/annotations/annotation-keys';
import { ClusterState } from '@reroll/core/state/cluster-state';
import { createRegistry } from '@reroll/shared/platform/metrics/registry';
import { watcherMetrics } from '@reroll/shared/platform/metrics/watcher';
import { expect, onTestFinished, test, vi } from 'vitest';
import { seenSource, seenWorkload } from '@reroll/core/testing/rows';
import type { LeftOver } from '../publish/left-over.ts';
import type { Publisher } from '../publish/publisher.ts';
import type { RolloutPublisher } from '../rollouts/rollout-publisher.ts';
import { Resyncer } from './resyncer.ts';

const CONFIG_MAPS = { kind: 'ConfigMap', namespace: '' };
const NOTHING_LEFT: LeftOver = { sources: [], workloads: [] };
const ROLLOUTS = { kind: 'Rollout', namespace: '' };

test('a kind of which the last object is gone, or its API with all of them, is counted as none', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const decision = { keys: DEFAULT_ANNOTATION_KEYS, autoReloadAll: false, ignoredWorkloadTypes: [] };
  const clusterState = new ClusterState({ decision, adoptedAt: 0 });
  const registry = createRegistry();
  const resyncer = new Resyncer(
    {
      clusterState,
      publisher: {} as Publisher,
      rollouts: {} as RolloutPublisher,
      metrics: watcherMetrics(registry),
      interval: 60_000,
    },
    { requested: async () => [], isUndecided: () => false, leftOver: async () => NOTHING_LEFT },
  );
  const counted = async (): Promise<readonly string[]> => {
    await vi.advanceTimersByTimeAsync(60_000);
    for (let turn = 0; turn < 10; turn += 1) await nextTurn();
    const text = await registry.getSingleMetricAsString('reroll_objects');
    return text.split('\n').filter((line) => /"(ConfigMap|Rollout)"/.test(line));
  };
  const nothing = { rv: '9', objects: [], catalog: new Map() };
  clusterState.sourcesListed({ ...nothing, scope: CONFIG_MAPS, objects: [seenSource('cm', 1, 'a')] });
  clusterState.workloadListBegins(ROLLOUTS);
  const rollout = seenWorkload('web', 1, { key: 'Rollout/ns/web', kind: 'Rollout' });
  clusterState.workloadsListed({ ...nothing, scope: ROLLOUTS, objects: [rollout] });
  resyncer.start();
  onTestFinished(() => resyncer.stop());
  expect(await counted()).toEqual(['reroll_objects{kind="ConfigMap"} 1', 'reroll_objects{kind="Rollout"} 1']);
  clusterState.sourceDeleted('ConfigMap/ns/cm', '10', CONFIG_MAPS);
  clusterState.workloadsListed({ ...nothing, scope: ROLLOUTS });
  expect(await counted()).toEqual(['reroll_objects{kind="ConfigMap"} 0', 'reroll_objects{kind="Rollout"} 0']);
});

test('a stop while it prepares to lead leaves nothing that publishes', async () => {
  const decision = { keys: DEFAULT_ANNOTATION_KEYS, autoReloadAll: false, ignoredWorkloadTypes: [] };
  const released = Promise.withResolvers<LeftOver>();
  const led: string[] = [];
  const resyncer = new Resyncer(
    {
      clusterState: new ClusterState({ decision, adoptedAt: 0 }),
      publisher: { prepare: () => undefined, lead: (term: string) => led.push(term) } as unknown as Publisher,
      rollouts: { underWay: async () => [] } as unknown as RolloutPublisher,
      metrics: watcherMetrics(createRegistry()),
      interval: 60_000,
    },
    { requested: async () => [], isUndecided: () => false, leftOver: () => released.promise },
  );
  const takingOver = resyncer.takeOver('1');
  await resyncer.stop();
  released.resolve(NOTHING_LEFT);
  await takingOver;
  expect(led).toEqual([]);
});

test('a requested reload is enqueued by every resync of the leader', async () => {
  const decision = { keys: DEFAULT_ANNOTATION_KEYS, autoReloadAll: false, ignoredWorkloadTypes: [] };
  const clusterState = new ClusterState({ decision, adoptedAt: 0 });
  const scope = { kind: 'Deployment', namespace: '' };
  clusterState.workloadListBegins(scope);
  clusterState.workloadsListed({ scope, rv: '9', objects: [seenWorkload('web', 1)], catalog: new Map() });
  clusterState.outbox.clear();
  const silent = {
    prepare: () => undefined,
    lead: () => undefined,
    verify: () => undefined,
    kick: () => undefined,
  };
  const resyncer = new Resyncer(
    {
      clusterState,
      publisher: silent as unknown as Publisher,
      rollouts: { underWay: async () => [], takeOver: () => undefined } as unknown as RolloutPublisher,
      metrics: watcherMetrics(createRegistry()),
      interval: 60_000,
    },
    {
      requested: async () => ['Deployment/ns/web'],
      isUndecided: () => false,
      leftOver: async () => NOTHING_LEFT,
    },
  );
  onTestFinished(() => resyncer.stop());
  await resyncer.takeOver('1');
  expect([...clusterState.outbox.reloads.keys()]).toEqual(['Deployment/ns/web']);
});
