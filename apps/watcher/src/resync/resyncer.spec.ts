import { DEFAULT_ANNOTATION_KEYS } from '@reroll/core/annotations/annotation-keys';
import { ClusterState } from '@reroll/core/state/cluster-state';
import { createRegistry } from '@reroll/shared/platform/metrics/registry';
import { watcherMetrics } from '@reroll/shared/platform/metrics/watcher';
import { expect, onTestFinished, test, vi } from 'vitest';
import { recordOf, seenSource, seenWorkload } from '@reroll/core/testing/rows';
import type { WorkloadKey } from '@reroll/core/model';
import type { LeftOver } from '../publish/left-over.ts';
import type { Publisher } from '../publish/publisher.ts';
import type { RolloutPublisher } from '../rollouts/rollout-publisher.ts';
import { Resyncer } from './resyncer.ts';

const NO_ROLLOUTS = { underWay: new Map(), completed: [] };

const NOTHING_LEFT: LeftOver = { sources: [], workloads: [] };

const decision = { keys: DEFAULT_ANNOTATION_KEYS, autoReloadAll: false, ignoredWorkloadTypes: [] };

test('a stop while it prepares to lead leaves nothing that publishes', async () => {
  const released = Promise.withResolvers<LeftOver>();
  const led: string[] = [];
  const resyncer = new Resyncer(
    {
      clusterState: new ClusterState({ decision, adoptedAt: 0 }),
      publisher: { prepare: () => undefined, lead: (term: string) => led.push(term) } as unknown as Publisher,
      rollouts: { written: async () => NO_ROLLOUTS } as unknown as RolloutPublisher,
      counts: { count: async () => undefined },
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

const SOURCES = { kind: 'ConfigMap', namespace: '' };
const WORKLOADS = { kind: 'Deployment', namespace: '' };
const INTERVAL = 60_000;

/** A resyncer that publishes to nobody, of a cluster with one workload. */
function resyncerOf(clusterState: ClusterState, requested: readonly WorkloadKey[] = []): Resyncer {
  const listed = { rv: '9', catalog: new Map() };
  clusterState.sourcesListed({ ...listed, scope: SOURCES, objects: [seenSource('cm', 1, 'A')] });
  clusterState.workloadListBegins(WORKLOADS);
  const objects = [seenWorkload('web', 1, { record: recordOf({ cm: 'A' }) })];
  clusterState.workloadsListed({ ...listed, scope: WORKLOADS, objects });
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
      rollouts: {
        written: async () => NO_ROLLOUTS,
        takeOver: () => undefined,
      } as unknown as RolloutPublisher,
      counts: { count: async () => undefined },
      metrics: watcherMetrics(createRegistry()),
      interval: INTERVAL,
    },
    { requested: async () => requested, isUndecided: () => false, leftOver: async () => NOTHING_LEFT },
  );
  onTestFinished(() => resyncer.stop());
  return resyncer;
}

test('a requested reload is enqueued by every resync of the leader', async () => {
  const clusterState = new ClusterState({ decision, adoptedAt: 0 });
  await resyncerOf(clusterState, ['Deployment/ns/web']).takeOver('1');
  expect([...clusterState.outbox.reloads.keys()]).toEqual(['Deployment/ns/web']);
});

test('how long a workload has been pending is the time since a standby or the leader saw it, however often it resyncs', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const clusterState = new ClusterState({ decision, adoptedAt: 0 });
  const resyncer = resyncerOf(clusterState);
  clusterState.sourceWritten(seenSource('cm', 10, 'B'), SOURCES);
  resyncer.start();
  await vi.advanceTimersByTimeAsync(3 * INTERVAL);
  expect(clusterState.pendingReloads(INTERVAL)).toMatchObject({ workloads: 1, oldest: 3 * INTERVAL });
  await resyncer.takeOver('1');
  for (let n = 0; n < 5; n += 1) {
    resyncer.kick();
    await vi.advanceTimersByTimeAsync(0);
  }
  expect(clusterState.pendingReloads(INTERVAL)).toMatchObject({ workloads: 1, oldest: 3 * INTERVAL });
});
