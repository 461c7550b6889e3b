import { DEFAULT_ANNOTATION_KEYS } from '@reroll/core/annotations/annotation-keys';
import { ClusterState } from '@reroll/core/state/cluster-state';
import { createRegistry } from '@reroll/shared/platform/metrics/registry';
import { watcherMetrics } from '@reroll/shared/platform/metrics/watcher';
import { expect, onTestFinished, test } from 'vitest';
import { seenWorkload } from '@reroll/core/testing/rows';
import type { LeftOver } from '../publish/left-over.ts';
import type { Publisher } from '../publish/publisher.ts';
import type { RolloutPublisher } from '../rollouts/rollout-publisher.ts';
import { Resyncer } from './resyncer.ts';

const NO_ROLLOUTS = { underWay: new Map(), completed: [] };

const NOTHING_LEFT: LeftOver = { sources: [], workloads: [] };

test('a stop while it prepares to lead leaves nothing that publishes', async () => {
  const decision = { keys: DEFAULT_ANNOTATION_KEYS, autoReloadAll: false, ignoredWorkloadTypes: [] };
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
      rollouts: {
        written: async () => NO_ROLLOUTS,
        takeOver: () => undefined,
      } as unknown as RolloutPublisher,
      counts: { count: async () => undefined },
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
