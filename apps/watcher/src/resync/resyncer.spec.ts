import { DEFAULT_ANNOTATION_KEYS } from '@reroll/core/annotations/annotation-keys';
import { ClusterState } from '@reroll/core/state/cluster-state';
import { createRegistry } from '@reroll/shared/platform/metrics/registry';
import { watcherMetrics } from '@reroll/shared/platform/metrics/watcher';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { recordOf, seenSource, seenWorkload, sourceRow } from '@reroll/core/testing/rows';
import type { WorkloadKey } from '@reroll/core/model';
import type { TemplateFacts } from '@reroll/core/state/doubts';
import type { LeftOver } from '../publish/left-over.ts';
import type { Publisher } from '../publish/publisher.ts';
import type { RolloutPublisher } from '../rollouts/rollout-publisher.ts';
import { Resyncer, type ResyncQuestions } from './resyncer.ts';

const NO_ROLLOUTS = { underWay: new Map(), completed: [] };

const NOTHING_LEFT: LeftOver = { sources: [], workloads: [] };

async function* nothing(): AsyncGenerator<never> {}

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
    {
      requested: async () => [],
      isUndecided: () => false,
      leftOver: () => released.promise,
      sourcesInCatalog: nothing,
      templatesInCatalog: nothing,
    },
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
const CM = 'ConfigMap/ns/cm' as const;

/** A resyncer that publishes to nobody, of a cluster with one workload. */
function resyncerOf(clusterState: ClusterState, requested: readonly WorkloadKey[] = []): Resyncer {
  const listed = { rv: '9', catalog: new Map() };
  clusterState.sourcesListed({ ...listed, scope: SOURCES, objects: [seenSource('cm', 1, 'A')] });
  clusterState.workloadListBegins(WORKLOADS);
  const objects = [seenWorkload('web', 1, { record: recordOf({ cm: 'A' }) })];
  clusterState.workloadsListed({ ...listed, scope: WORKLOADS, objects });
  clusterState.outbox.clear();
  return resyncerAround(clusterState, { requested: async () => requested });
}

function resyncerAround(clusterState: ClusterState, questions: Partial<ResyncQuestions>): Resyncer {
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
    {
      requested: async () => [],
      isUndecided: () => false,
      leftOver: async () => NOTHING_LEFT,
      sourcesInCatalog: nothing,
      templatesInCatalog: nothing,
      ...questions,
    },
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

/** Workloads that have recorded the data A, and whose template and source were written before the lists that show them. */
function inDoubt(names: readonly string[] = ['web']): ClusterState {
  const before = new ClusterState({ decision, adoptedAt: 0 });
  for (const name of names) before.workloadWritten(seenWorkload(name, 2, { record: recordOf({ cm: 'A' }) }));
  const clusterState = new ClusterState({ decision, adoptedAt: 0 });
  const objects = [seenSource('cm', 6, 'A')];
  clusterState.sourcesListed({ scope: SOURCES, rv: '8', objects, catalog: new Map() });
  clusterState.workloadListBegins(WORKLOADS);
  clusterState.workloadsListed({
    scope: WORKLOADS,
    rv: '9',
    objects: names.map((name) => seenWorkload(name, 7, { template: 't2', record: recordOf({ cm: 'A' }) })),
    catalog: before.workloads,
  });
  return clusterState;
}

test('a standby settles by the catalog what its lists left in doubt, and tries again if Redis was away', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const clusterState = inDoubt();
  expect(clusterState.pending.get('Deployment/ns/web')?.cause).toBe('owed');
  const asked: unknown[] = [];
  const answers = [undefined, new Map([[CM, sourceRow(6, 'A', { dataRv: '1' })]])] as const;
  const resyncer = resyncerAround(clusterState, {
    sourcesInCatalog: async function* (keys) {
      yield answers[asked.push(keys) - 1];
    },
  });
  resyncer.start();
  await vi.waitFor(() => {
    vi.advanceTimersByTime(INTERVAL);
    expect(clusterState.pending.size).toBe(0);
  });
  expect(asked).toEqual([[CM], [CM]]);
});

/** As the leader wrote them that saw the templates at 7. */
function seenAt7(keys: readonly WorkloadKey[]): ReadonlyMap<WorkloadKey, TemplateFacts> {
  const seen = { generation: 2, templateRv: '7', record: recordOf({ cm: 'A' }), unverified: [] };
  return new Map(keys.map((key) => [key, { uid: `uid-${key.split('/')[2]}`, ...seen }]));
}

test.each([
  { who: 'a standby', leads: false, reads: [500, 500, 100], pending: 0 },
  { who: 'a leader, whose own rows these are,', leads: true, reads: [], pending: 1_100 },
])('$who reads the dates of 1,100 templates in doubt: $reads', async ({ leads, reads, pending }) => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const clusterState = inDoubt(Array.from({ length: 1_100 }, (_, n) => `web-${n}`));
  const asked: number[] = [];
  const resyncer = resyncerAround(clusterState, {
    templatesInCatalog: async function* (keys) {
      asked.push(keys.length);
      yield seenAt7(keys);
    },
  });
  if (leads) await resyncer.takeOver('1');
  else {
    resyncer.start();
    vi.advanceTimersByTime(INTERVAL);
  }
  await vi.waitFor(() => expect(clusterState.pending.size).toBe(pending));
  expect(asked).toEqual(reads);
});

test('a standby settles each portion of rows before it reads the next one, and reads none after it leads', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const clusterState = inDoubt(Array.from({ length: 4 }, (_, n) => `web-${n}`));
  const pending: number[] = [];
  const leads = Promise.withResolvers<void>();
  const resyncer = resyncerAround(clusterState, {
    templatesInCatalog: async function* (keys) {
      for (const key of keys) {
        pending.push(clusterState.pending.size);
        if (pending.length === 3) await leads.promise;
        yield seenAt7([key]);
      }
    },
  });
  resyncer.start();
  vi.advanceTimersByTime(INTERVAL);
  await vi.waitFor(() => expect(pending).toEqual([4, 3, 2]));
  const takingOver = resyncer.takeOver('1');
  await nextTurn();
  leads.resolve();
  await takingOver;
  expect(pending).toEqual([4, 3, 2]);
  expect([...clusterState.pending.keys()]).toEqual(['Deployment/ns/web-2', 'Deployment/ns/web-3']);
});
