import type { SourceKey } from '@reroll/core/model';
import { Catalog, type Publication } from '@reroll/redis/catalog/catalog';
import type { CatalogKeys } from '@reroll/redis/catalog/keys';
import { DEFAULT_ANNOTATION_KEYS } from '@reroll/core/annotations/annotation-keys';
import { ClusterState } from '@reroll/core/state/cluster-state';
import type { RolloutChanges, SeenRollout } from '@reroll/core/rollouts/rollout-tracker';
import { RolloutTracker } from '@reroll/core/rollouts/rollout-tracker';
import { createLogger } from '@reroll/shared/platform/logging/logging';
import { createRegistry } from '@reroll/shared/platform/metrics/registry';
import { watcherMetrics } from '@reroll/shared/platform/metrics/watcher';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { seenSource, seenWorkload } from '@reroll/core/testing/rows';
import { useRealRedis } from '@reroll/redis/testing/real-redis';
import { Publisher, type PublisherSettings } from './publisher.ts';
import { RolloutPublisher } from '../rollouts/rollout-publisher.ts';

const SOURCES = { kind: 'ConfigMap', namespace: '' };
const WORKLOADS = { kind: 'Deployment', namespace: '' };
const keyOf = (name: string): SourceKey => `ConfigMap/ns/${name}`;
const namesOf = (count: number): string[] => Array.from({ length: count }, (_, index) => `cm${index}`);

const redis = useRealRedis();
let keys: CatalogKeys;

beforeEach(() => {
  keys = redis.freshKeys();
});

/** Injected faults: lost replies to writes, or change jobs that cannot be enqueued. */
const LOST = new Error('Command timed out');

/** A leader with these sources on a real Redis, and a count of what it sends. */
function leaderOf(names: readonly string[], more: Partial<PublisherSettings> = {}) {
  const decision = { keys: DEFAULT_ANNOTATION_KEYS, autoReloadAll: false, ignoredWorkloadTypes: [] };
  const clusterState = new ClusterState({ decision, adoptedAt: 0 });
  const objects = names.map((name) => seenSource(name, 1, 'a'));
  clusterState.sourcesListed({ rv: '1', catalog: new Map(), scope: SOURCES, objects });

  const sent = { writes: [] as Publication[], changes: [] as string[], rollouts: 0 };
  /** How many of the next replies to a write are lost, and whether change jobs can be enqueued. */
  const state = { repliesToLose: 0, enqueues: true };
  class Counting extends Catalog {
    override async publish(publication: Publication): ReturnType<Catalog['publish']> {
      sent.writes.push(publication);
      const published = await super.publish(publication);
      if (state.repliesToLose === 0) return published;
      state.repliesToLose -= 1;
      throw LOST;
    }
  }
  const catalog = new Counting(redis.client, keys);
  const tracker = new RolloutTracker();
  const write = vi.fn(async (_term: string, _changes: RolloutChanges) => true);
  const queues = {
    enqueueChanges: async (sources: readonly string[]) => {
      if (!state.enqueues) throw LOST;
      sent.changes.push(...sources);
    },
    enqueueReloads: vi.fn(async () => undefined),
    enqueueResumes: async () => undefined,
  };
  const publisher = new Publisher(
    {
      clusterState,
      catalog,
      queues,
      rollouts: new RolloutPublisher(tracker, {
        write,
        written: async () => ({ underWay: new Map(), completed: [] }),
      }),
      metrics: watcherMetrics(createRegistry()),
      log: createLogger({ format: 'text', level: 'fatal' }),
      leftOver: async () => ({ sources: [], workloads: [] }),
      leadership: { isLeader: () => true, refused: () => undefined },
      rewritten: () => undefined,
    },
    { adoptionsPerSecond: 100, ...more },
  );
  const lead = (term: string): void => {
    // Until then the outbox was a standby's.
    clusterState.outbox.clear();
    publisher.lead(term);
    clusterState.assertAll();
  };
  const change = (changed: readonly string[], rv: number, hash: string): void => {
    for (const name of changed) clusterState.sourceWritten(seenSource(name, rv, hash), SOURCES);
    publisher.kick();
  };
  const rowsWritten = (): number =>
    sent.writes.reduce((sum, { sources, workloads }) => sum + sources.length + workloads.length, 0);
  return { clusterState, catalog, publisher, tracker, write, queues, sent, state, lead, change, rowsWritten };
}

type Leader = ReturnType<typeof leaderOf>;

/** Resolves when the catalog has these sources with this data and nothing waits to be sent. */
async function settled(
  { clusterState, catalog, sent }: Leader,
  names: readonly string[],
  hash: string,
): Promise<void> {
  await vi.waitUntil(
    async () => {
      const rows = await catalog.sources(names.map(keyOf));
      return (
        clusterState.outbox.isEmpty() &&
        [...rows.values()].every((row) => row.hash === `1.${hash}`) &&
        rows.size === names.length
      );
    },
    { timeout: 30_000, interval: 20 },
  );
  // Waits one more turn: jobs are taken from the outbox before they are sent.
  const before = sent.changes.length;
  await vi.waitUntil(
    () => new Promise((resolve) => setImmediate(() => resolve(sent.changes.length >= before))),
  );
}

describe('a burst of changes', () => {
  it('is one change job for each source, however many writes it takes', async () => {
    const names = namesOf(1_000);
    const leader = leaderOf(names);
    leader.lead('7');
    leader.publisher.kick();
    await settled(leader, names, 'a');
    leader.change(names, 2, 'b');
    await settled(leader, names, 'b');
    await leader.publisher.stop();
    expect(leader.sent.changes.toSorted()).toEqual(names.map(keyOf).toSorted());
    expect(leader.rowsWritten()).toBe(2 * names.length);
  });

  it('that only the catalog can tell, after a gap of all watchers, is one change job for each source too', async () => {
    const names = namesOf(600);
    const earlier = leaderOf(names);
    earlier.lead('7');
    await settled(earlier, names, 'a');
    await earlier.publisher.stop();
    const leader = leaderOf([]);
    const objects = names.map((name) => seenSource(name, 2, 'b'));
    leader.clusterState.sourcesListed({ rv: '2', catalog: new Map(), scope: SOURCES, objects });
    leader.lead('8');
    await settled(leader, names, 'b');
    await leader.publisher.stop();
    expect(leader.sent.changes.toSorted()).toEqual(names.map(keyOf).toSorted());
  });
});

describe('a change that an event showed', () => {
  const READING = { rv: '200', hash: '1.b', markerHash: 'f'.repeat(40) };

  /** Changes `cm`, which a workload uses, and returns the hashes that Redis then has. */
  async function changedBy(
    leader: Leader,
    prepare: (leader: Leader) => void = () => undefined,
  ): Promise<unknown> {
    const { clusterState, publisher } = leader;
    clusterState.workloadListBegins(WORKLOADS);
    const objects = [seenWorkload('web', 1)];
    clusterState.workloadsListed({ rv: '1', catalog: new Map(), scope: WORKLOADS, objects });
    leader.lead('7');
    await settled(leader, ['cm'], 'a');
    prepare(leader);
    const seen = seenSource('cm', 200, 'b', { markerHash: () => READING.markerHash });
    clusterState.sourceWritten(seen, SOURCES);
    publisher.kick();
    await settled(leader, ['cm'], 'b');
    await publisher.stop();
    expect(leader.sent.changes).toEqual([keyOf('cm')]);
    return JSON.parse((await redis.client.get(keys.readings + keyOf('cm'))) ?? 'null');
  }

  it('has the hashes of the source in Redis, beside its row', async () => {
    expect(await changedBy(leaderOf(['cm']))).toEqual(READING);
  });

  it('has the row and the change job if Redis does not take the hashes', async () => {
    const refuse = ({ catalog }: Leader): void => {
      catalog.putReading = () => Promise.reject(new Error('NOPERM'));
    };
    expect(await changedBy(leaderOf(['cm']), refuse)).toBeNull();
  });

  it('has no hashes if changes are only posted: then the source is read', async () => {
    expect(await changedBy(leaderOf(['cm'], { notifyOnly: true }))).toBeNull();
  });
});

describe('a write whose reply is lost', () => {
  it('is sent once more as it was: no row and no change job more than without the loss', async () => {
    const names = namesOf(40);
    const leader = leaderOf(names);
    leader.lead('7');
    await settled(leader, names, 'a');
    const writes = leader.sent.writes.length;
    leader.state.repliesToLose = 1;
    leader.change(names, 2, 'b');
    await settled(leader, names, 'b');
    await vi.waitUntil(() => leader.sent.changes.length === names.length);
    await leader.publisher.stop();
    const [first, second, ...others] = leader.sent.writes.slice(writes);
    expect(second).toEqual(first);
    expect(others).toEqual([]);
    expect(leader.sent.changes.toSorted()).toEqual(names.map(keyOf).toSorted());
  });

  it('loses no change that only the catalog could tell', async () => {
    const earlier = leaderOf(['cm0', 'cm1']);
    earlier.lead('7');
    await settled(earlier, ['cm0', 'cm1'], 'a');
    await earlier.publisher.stop();
    const leader = leaderOf([]);
    const objects = [seenSource('cm0', 1, 'a'), seenSource('cm1', 2, 'b')];
    leader.clusterState.sourcesListed({ rv: '2', catalog: new Map(), scope: SOURCES, objects });
    leader.state.repliesToLose = 3;
    leader.lead('8');
    await vi.waitUntil(() => leader.sent.changes.length > 0, { timeout: 10_000 });
    await leader.publisher.stop();
    expect(leader.sent.changes).toEqual([keyOf('cm1')]);
    expect(leader.sent.writes).toHaveLength(4);
  });

  it('is not undone by a copy of an earlier write that arrives late', async () => {
    const leader = leaderOf(['cm0']);
    leader.lead('7');
    await settled(leader, ['cm0'], 'a');
    leader.change(['cm0'], 2, 'b');
    await settled(leader, ['cm0'], 'b');
    const [first] = leader.sent.writes;
    if (!first) expect.fail('nothing was written');
    expect(await leader.catalog.publish(first)).toEqual({ refused: false, gap: true, changed: [] });
    leader.change(['cm0'], 3, 'c');
    await settled(leader, ['cm0'], 'c');
    await leader.publisher.stop();
    expect(leader.sent.changes).toEqual([keyOf('cm0'), keyOf('cm0')]);
  });
});

describe('a gap', () => {
  it('writes everything again, what was to be removed included', async () => {
    const names = namesOf(3);
    const leader = leaderOf(names);
    leader.lead('7');
    await settled(leader, names, 'a');
    await redis.client.set(keys.writer, '7:0');
    leader.clusterState.workloadDeleted('Deployment/ns/web');
    leader.publisher.kick();
    await vi.waitUntil(() => leader.rowsWritten() >= names.length + 2 + names.length);
    await leader.publisher.stop();
    expect(leader.sent.writes.at(-1)?.workloads).toEqual([['Deployment/ns/web', undefined]]);
    expect(leader.sent.writes.at(-1)?.sources).toHaveLength(names.length);
  });
});

describe('a new leader', () => {
  it('enqueues the change jobs that its predecessor wrote the rows for and did not enqueue', async () => {
    const predecessor = leaderOf(['cm0', 'cm1']);
    predecessor.lead('7');
    await settled(predecessor, ['cm0', 'cm1'], 'a');
    predecessor.state.enqueues = false;
    predecessor.change(['cm1'], 2, 'b');
    await vi.waitUntil(async () => (await redis.client.hlen(keys.before)) === 1);
    await predecessor.publisher.stop();

    const leader = leaderOf([]);
    const objects = [seenSource('cm0', 1, 'a'), seenSource('cm1', 2, 'b')];
    leader.clusterState.sourcesListed({ rv: '2', catalog: new Map(), scope: SOURCES, objects });
    leader.lead('8');
    await vi.waitUntil(() => leader.sent.changes.length > 0, { timeout: 10_000 });
    await leader.publisher.stop();
    expect(leader.sent.changes).toEqual([keyOf('cm1')]);
  });

  it('removes what is left to be told of sources that nobody knows', async () => {
    await redis.client.hset(keys.before, keyOf('outside'), 'event:1.A');
    const leader = leaderOf(['cm0']);
    leader.lead('7');
    await vi.waitUntil(async () => (await redis.client.hlen(keys.before)) === 0, { timeout: 10_000 });
    await leader.publisher.stop();
    expect(leader.sent.changes).toEqual([]);
  });
});

describe('rollouts of which something is to be written at every turn', () => {
  const rollout = (name: string, updated: number): SeenRollout => ({
    workload: `Deployment/ns/${name}`,
    generation: updated,
    state: 'progressing',
    code: 'Updating',
    updated,
    ready: 0,
    desired: 9,
    conditions: [],
  });

  /** A leader of 600 sources and 600 workloads, where another rollout begins whenever rollouts are written. */
  function busy(write: () => Promise<boolean>): Leader {
    const leader = leaderOf(namesOf(600));
    let updated = 0;
    const begin = (): void =>
      leader.tracker.seen(rollout('busy', (updated += 1)), { begins: true, now: updated });
    leader.write.mockImplementation(async () => {
      // Until all changes are told, so that it does not count how late that is noticed.
      if (leader.sent.changes.length < 600) begin();
      leader.publisher.kick();
      await new Promise((resolve) => setImmediate(resolve));
      return await write();
    });
    leader.clusterState.workloadListBegins(WORKLOADS);
    const objects = namesOf(600).map((name) => seenWorkload(name, 1, { uses: [`ConfigMap/${name}`] }));
    leader.clusterState.workloadsListed({ rv: '1', catalog: new Map(), scope: WORKLOADS, objects });
    begin();
    return leader;
  }

  it('take one call a turn, beside the rows and jobs of that turn', async () => {
    const leader = busy(async () => true);
    leader.lead('7');
    leader.change(namesOf(600), 2, 'b');
    await vi.waitUntil(() => leader.sent.changes.length === 600, { timeout: 10_000, interval: 1 });
    const calls = leader.write.mock.calls.length;
    await leader.publisher.stop();
    // 600 rows of either sort are three writes of 250; 600 change jobs are two turns of 500.
    expect(calls).toBeLessThanOrEqual(3 + 2 + 1);
    expect(leader.sent.writes).toHaveLength(3);
  });

  it('that cannot be written hold up neither rows nor jobs', async () => {
    const leader = busy(async () => await Promise.reject(LOST));
    leader.lead('7');
    leader.change(namesOf(600), 2, 'b');
    await vi.waitUntil(() => leader.sent.changes.length === 600, { timeout: 10_000, interval: 1 });
    await leader.publisher.stop();
    expect(leader.write.mock.calls.length).toBeLessThanOrEqual(3 + 2 + 1);
  });

  it('are written before the row of their own workload, however many others wait', async () => {
    const leader = leaderOf([]);
    const begin = (name: string): void => leader.tracker.seen(rollout(name, 1), { begins: true, now: 1 });
    for (const name of namesOf(900)) begin(name);
    leader.clusterState.workloadListBegins(WORKLOADS);
    const names = namesOf(900).toReversed();
    const objects = names.map((name) => seenWorkload(name, 1, { uses: [] }));
    leader.clusterState.workloadsListed({ rv: '1', catalog: new Map(), scope: WORKLOADS, objects });
    const known = new Set<string>();
    leader.write.mockImplementation(async (_term, { put }) => {
      for (const { workload } of put) known.add(workload);
      return true;
    });
    const early: string[] = [];
    const publish = leader.catalog.publish.bind(leader.catalog);
    vi.spyOn(leader.catalog, 'publish').mockImplementation(async (publication) => {
      early.push(...publication.workloads.map(([key]) => key).filter((key) => !known.has(key)));
      return await publish(publication);
    });
    leader.lead('7');
    await vi.waitUntil(() => leader.rowsWritten() === 900, { timeout: 10_000 });
    await leader.publisher.stop();
    expect(early).toEqual([]);
    expect(known.size).toBe(900);
  });
});
