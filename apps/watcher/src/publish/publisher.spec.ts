import type { Catalog } from '@reroll/redis/catalog/catalog';
import { DEFAULT_ANNOTATION_KEYS } from '@reroll/core/annotations/annotation-keys';
import { ClusterState } from '@reroll/core/state/cluster-state';
import { createLogger } from '@reroll/shared/platform/logging/logging';
import { createRegistry } from '@reroll/shared/platform/metrics/registry';
import { watcherMetrics } from '@reroll/shared/platform/metrics/watcher';
import { RolloutTracker } from '@reroll/core/rollouts/rollout-tracker';
import type { Queues } from '@reroll/redis/queue/queues';
import { expect, test, vi } from 'vitest';
import { seenSource, seenWorkload } from '@reroll/core/testing/rows';
import { leftOverIn, type LeftOver } from './left-over.ts';
import { Publisher } from './publisher.ts';
import { RolloutPublisher } from '../rollouts/rollout-publisher.ts';
import { Resyncer } from '../resync/resyncer.ts';
import { inOneGo } from '@reroll/core/state/slices';

/** On a busy machine, too. */
const SOON = { timeout: 20_000 };
const NONE = { rv: '1', catalog: new Map() };

async function* nothing(): AsyncGenerator<never> {}

/** A synced watcher with a workload whose source changed, and what it sends to Redis. */
function watcherInSync() {
  const decision = { keys: DEFAULT_ANNOTATION_KEYS, autoReloadAll: false, ignoredWorkloadTypes: [] };
  const clusterState = new ClusterState({ decision, adoptedAt: 0 });
  const sources = { kind: 'ConfigMap', namespace: '' };
  const workloads = { kind: 'Deployment', namespace: '' };
  clusterState.sourcesListed({ ...NONE, scope: sources, objects: [seenSource('cm', 1, 'a')] });
  clusterState.workloadListBegins(workloads);
  clusterState.workloadsListed({ ...NONE, scope: workloads, objects: [seenWorkload('web', 1)] });
  clusterState.sourceWritten(seenSource('cm', 2, 'b'), sources);

  const state = {
    leading: true,
    duringScan: () => undefined as void,
    inCatalog: [] as string[],
    workloadsInCatalog: [] as string[],
    isIntact: true,
  };
  const publish = vi.fn<Catalog['publish']>(async () => ({ refused: false, gap: false, changed: [] }));
  const enqueueReloads = vi.fn<Queues['enqueueReloads']>(async () => undefined);
  const catalog = {
    publish,
    isLastWriter: async () => state.isIntact,
    eachSource: async function* (isWanted: (key: string) => boolean) {
      yield state.inCatalog.filter(isWanted).map((key) => [key, { exists: true }]);
    },
    sources: async () => new Map(),
    eachUntold: async function* () {},
    eachWorkload: async function* (isWanted: (key: string) => boolean) {
      state.duringScan();
      yield state.workloadsInCatalog.filter(isWanted).map((key) => [key, {}]);
    },
  } as unknown as Catalog;
  const metrics = watcherMetrics(createRegistry());
  const writer = { write: async () => true, written: async () => ({ underWay: new Map(), completed: [] }) };
  const rollouts = new RolloutPublisher(new RolloutTracker(), writer);
  const queues = {
    enqueueChanges: async () => undefined,
    enqueueReloads,
    enqueueResumes: async () => undefined,
  };
  const log = createLogger({ format: 'text', level: 'fatal' });
  const isUndecided = (): boolean => false;
  const isOutdated = (namespace: string): boolean => namespace !== 'ns';
  const leftOver = (): Promise<LeftOver> =>
    leftOverIn({ clusterState, catalog }, { isUndecided, isOutdated });
  const leadership = { isLeader: () => state.leading, refused: () => undefined };
  const rewritten = vi.fn<() => void>();
  const publisher = new Publisher(
    { clusterState, rollouts, catalog, metrics, queues, log, leadership, leftOver, rewritten },
    { adoptionsPerSecond: 100 },
  );
  const resyncer = new Resyncer(
    {
      clusterState,
      publisher,
      rollouts,
      counts: { count: async () => undefined },
      metrics,
      interval: 60_000,
    },
    {
      requested: async () => [],
      isUndecided,
      leftOver,
      sourcesInCatalog: nothing,
      templatesInCatalog: nothing,
    },
  );
  return { clusterState, state, publisher, resyncer, publish, enqueueReloads, rewritten };
}

test('a standby writes nothing, and all that it knows once it takes the lead', async () => {
  const { publisher, resyncer, publish, enqueueReloads } = watcherInSync();
  publisher.kick();
  await publisher.stop();
  expect(publish).not.toHaveBeenCalled();

  await resyncer.takeOver('7');
  await vi.waitFor(() => expect(enqueueReloads).toHaveBeenCalled());

  const written = publish.mock.calls[0]?.[0];
  expect(written?.writer).toEqual({ term: '7', sequence: 0 });
  expect(written?.sources.map(([key]) => key)).toEqual(['ConfigMap/ns/cm']);
  expect(written?.workloads.map(([key]) => key)).toEqual(['Deployment/ns/web']);
  expect(enqueueReloads.mock.calls[0]?.[0]).toMatchObject([{ workload: 'Deployment/ns/web' }]);
  await publisher.stop();
});

test('it is told when all rows are written, and again after Redis lost them', async () => {
  const { clusterState, state, publisher, resyncer, publish, rewritten } = watcherInSync();
  for (let n = 0; n < 1_000; n += 1) clusterState.workloadWritten(seenWorkload(`web-${n}`, 3));
  const rowsWritten = (): number =>
    publish.mock.calls.reduce((sum, [rows]) => sum + rows.workloads.length, 0);
  const toldAt: number[] = [];
  rewritten.mockImplementation(() => void toldAt.push(rowsWritten()));

  await resyncer.takeOver('7');
  await vi.waitFor(() => expect(toldAt).toEqual([1_001]), SOON);
  clusterState.workloadWritten(seenWorkload('web-0', 4, { annotations: { 'reroll.dev/freeze': 'x' } }));
  publisher.kick();
  await vi.waitFor(() => expect(rowsWritten()).toBeGreaterThan(1_001), SOON);
  state.isIntact = false;
  resyncer.kick();
  await vi.waitFor(() => expect(toldAt).toHaveLength(2), SOON);
  expect(toldAt[1]).toBe(rowsWritten());
  await publisher.stop();
});

test('corrections that Redis refuses are enqueued later', async () => {
  const { clusterState, publisher, resyncer, enqueueReloads } = watcherInSync();
  const names = Array.from({ length: 150 }, (_, n) => `unrecorded-${n}`);
  for (const name of names) clusterState.workloadWritten(seenWorkload(name, 3));
  const enqueued = new Set<string>();
  enqueueReloads.mockImplementation(async (reloads) => {
    // The first of them go at once, the others at the rate of adoptions.
    if (enqueueReloads.mock.calls.length === 2) throw new Error('Redis is away');
    for (const { workload } of reloads) enqueued.add(workload);
  });
  await resyncer.takeOver('7');
  const all = names.map((name) => `Deployment/ns/${name}`);
  await vi.waitFor(() => expect([...enqueued]).toEqual(expect.arrayContaining(all)), { timeout: 20_000 });
  await publisher.stop();
});

test('a leader that loses the Lease while it writes rows enqueues nothing for them', async () => {
  const { state, publisher, resyncer, publish, enqueueReloads } = watcherInSync();
  publish.mockImplementation(async () => {
    state.leading = false;
    return { refused: false, gap: false, changed: [] };
  });

  await resyncer.takeOver('7');
  await vi.waitFor(() => expect(publish).toHaveBeenCalled());
  await publisher.stop();

  expect(enqueueReloads).not.toHaveBeenCalled();
});

test('jobs wait for the rows that waited with them, and not for those that change at every write', async () => {
  const { clusterState, publisher, resyncer, publish, enqueueReloads } = watcherInSync();
  const enqueued = (): string[] =>
    enqueueReloads.mock.calls.flatMap(([reloads]) => reloads.map(({ workload }) => workload));
  const writtenBefore: number[] = [];
  publish.mockImplementation(async ({ workloads }) => {
    await new Promise((resolve) => setImmediate(resolve));
    if (enqueued().length === 0) writtenBefore.push(workloads.length);
    const annotations = { turn: `${publish.mock.calls.length}` };
    clusterState.workloadWritten(
      seenWorkload('busy', 10 + publish.mock.calls.length, { podAnnotations: annotations }),
    );
    return { refused: false, gap: false, changed: [] };
  });
  for (let n = 0; n < 600; n += 1) clusterState.workloadWritten(seenWorkload(`other-${n}`, 3));

  await resyncer.takeOver('7');
  await vi.waitFor(() => expect(enqueued()).toContain('Deployment/ns/web'));
  await publisher.stop();

  // 601 rows are three writes.
  expect(writtenBefore).toHaveLength(3);
  expect(writtenBefore.reduce((sum, rows) => sum + rows, 0)).toBeGreaterThanOrEqual(601);
});

test('a write has few rows if they are large, and at least one', async () => {
  const { clusterState, publisher, resyncer, publish } = watcherInSync();
  const uses = Array.from({ length: 12_000 }, (_, n) => `ConfigMap/${'x'.repeat(80)}${n}` as const);
  for (let n = 0; n < 5; n += 1) clusterState.workloadWritten(seenWorkload(`large-${n}`, 3, { uses }));
  const small = Array.from({ length: 200 }, (_, n) => seenWorkload(`small-${n}`, 3));
  for (const workload of small) clusterState.workloadWritten(workload);

  const rowsOf = (): number[] => publish.mock.calls.map(([{ workloads }]) => workloads.length);
  await resyncer.takeOver('7');
  await vi.waitFor(() => expect(rowsOf().reduce((sum, rows) => sum + rows, 0)).toBe(206));
  await publisher.stop();

  const largeOf = ([{ workloads }]: (typeof publish.mock.calls)[number]): number =>
    workloads.filter(([key]) => key.includes('large')).length;
  // Each has more than 1.1 MB of names in `uses` alone.
  expect(Math.max(...publish.mock.calls.map(largeOf))).toBeLessThanOrEqual(2);
  expect(rowsOf().length).toBeGreaterThanOrEqual(3);
});

test('a write has few rows if many sources find them, and so does one that removes or replaces such rows', async () => {
  const { clusterState, publisher, resyncer, publish } = watcherInSync();
  const sourcesOf = (name: string) =>
    Array.from({ length: 1_000 }, (_, n) => `ConfigMap/${name}${n}` as const);
  const wide = Array.from({ length: 20 }, (_, n) => seenWorkload(`wide-${n}`, 3, { uses: sourcesOf('a') }));
  for (const workload of wide) clusterState.workloadWritten(workload);
  const wideOf = (): number[] =>
    publish.mock.calls.map(([{ workloads }]) => workloads.filter(([key]) => key.includes('wide')).length);
  const allWritten = async (): Promise<void> => {
    await vi.waitFor(() => expect(wideOf().reduce((sum, rows) => sum + rows, 0)).toBe(20));
    expect(Math.max(...wideOf())).toBeLessThanOrEqual(5);
    publish.mockClear();
  };
  await resyncer.takeOver('7');
  await allWritten();

  wide.forEach((_, n) => clusterState.workloadWritten(seenWorkload(`wide-${n}`, 4, { uses: [] })));
  publisher.kick();
  await allWritten();

  // What replaced them is small.
  for (const { key } of wide) clusterState.workloadDeleted(key);
  publisher.kick();
  await vi.waitFor(() => expect(wideOf()).toEqual([20]));
  await publisher.stop();
});

test('a write has few rows if they have long names of variables', async () => {
  const { clusterState, publisher, resyncer, publish } = watcherInSync();
  const marks = Array.from({ length: 1_000 }, (_, n) => `STAKATER_${'X'.repeat(1_000)}${n}`);
  for (let n = 0; n < 9; n += 1) clusterState.workloadWritten(seenWorkload(`large-${n}`, 3, { marks }));
  const rowsOf = (): number[] => publish.mock.calls.map(([{ workloads }]) => workloads.length);
  await resyncer.takeOver('7');
  await vi.waitFor(() => expect(rowsOf().reduce((sum, rows) => sum + rows, 0)).toBe(10));
  await publisher.stop();
  // Three of them and a small one.
  expect(Math.max(...rowsOf())).toBeLessThanOrEqual(4);
});

test('jobs that could not be enqueued are enqueued at the next try', async () => {
  const { publisher, resyncer, enqueueReloads } = watcherInSync();
  enqueueReloads.mockRejectedValueOnce(new Error('Redis is away'));

  await resyncer.takeOver('7');
  await vi.waitFor(() => expect(enqueueReloads).toHaveBeenCalledTimes(2));
  await publisher.stop();

  const [failed, repeated] = enqueueReloads.mock.calls.map(([reloads]) =>
    reloads.map(({ workload }) => workload),
  );
  expect(failed).toEqual(['Deployment/ns/web']);
  expect(repeated).toEqual(failed);
});

test('a catalog that was lost is written anew, and what came back with it is removed', async () => {
  const { state, publisher, resyncer, publish } = watcherInSync();
  await resyncer.takeOver('7');
  await vi.waitFor(() => expect(publish).toHaveBeenCalledTimes(1));
  state.isIntact = false;
  state.inCatalog = ['ConfigMap/outside/cm'];
  state.workloadsInCatalog = ['Deployment/ns/deleted'];
  publisher.verify();
  await vi.waitFor(() => expect(publish).toHaveBeenCalledTimes(3));
  await publisher.stop();

  const keys = publish.mock.calls.map(([{ sources, workloads }]) =>
    [...sources, ...workloads].map(([key]) => key),
  );
  expect(keys[1]).toEqual(['ConfigMap/ns/cm', 'Deployment/ns/web']);
  expect(keys[2]).toEqual(['ConfigMap/outside/cm', 'Deployment/ns/deleted']);
});

test('a workload that is deleted while a new leader reads the catalog is removed from it', async () => {
  const { clusterState, state, publisher, resyncer, publish } = watcherInSync();
  state.duringScan = () => {
    clusterState.workloadDeleted('Deployment/ns/web');
    publisher.kick();
  };

  await resyncer.takeOver('7');
  await vi.waitFor(() => expect(publish).toHaveBeenCalled());
  await publisher.stop();

  expect(publish.mock.calls.flatMap(([{ workloads }]) => workloads)).toContainEqual([
    'Deployment/ns/web',
    undefined,
  ]);
});

test('a watcher that cannot read the catalog stays a standby, and leads once it can', async () => {
  const { clusterState, state, publisher, resyncer, publish } = watcherInSync();
  state.duringScan = () => {
    publisher.kick();
    throw new Error('Redis is away');
  };
  await expect(resyncer.takeOver('7')).rejects.toThrow('Redis is away');
  expect(clusterState.outbox.isEmpty()).toBe(true);
  expect(publish).not.toHaveBeenCalled();

  state.duringScan = () => undefined;
  await resyncer.takeOver('8');
  await vi.waitFor(() => expect(publish).toHaveBeenCalled());
  await publisher.stop();
  expect(publish.mock.calls[0]?.[0].writer).toEqual({ term: '8', sequence: 0 });
});

test('what a new leader finds of a namespace out of scope, and what leaves it meanwhile, is removed', async () => {
  const { clusterState, state, publisher, resyncer, publish } = watcherInSync();
  state.inCatalog = ['ConfigMap/ns/cm', 'ConfigMap/outside/cm'];
  state.duringScan = () => {
    inOneGo(clusterState.leave('ns'));
    publisher.kick();
  };

  await resyncer.takeOver('7');
  await vi.waitFor(() => expect(publish).toHaveBeenCalled());
  await publisher.stop();

  expect(publish.mock.calls.flatMap(([{ sources }]) => sources)).toEqual([
    ['ConfigMap/ns/cm', undefined, undefined],
    ['ConfigMap/outside/cm', undefined, undefined],
  ]);
  expect(publish.mock.calls.flatMap(([{ workloads }]) => workloads)).toEqual([
    ['Deployment/ns/web', undefined],
  ]);
});
