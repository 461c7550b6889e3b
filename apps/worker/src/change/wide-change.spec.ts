import { Catalog } from '@reroll/redis/catalog/catalog';
import type { RedisClient } from '@reroll/redis/connection/redis';
import { DEFAULT_ANNOTATION_KEYS } from '@reroll/core/annotations/annotation-keys';
import { partsOf, type SourceKey, type WorkloadKey } from '@reroll/core/model';
import { Queues } from '@reroll/redis/queue/queues';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sourceRow, workloadRow } from '@reroll/redis/catalog/testing/rows';
import { useRealRedis } from '@reroll/redis/testing/real-redis';
import { ChangeProcessor, USERS_PER_PORTION } from './change.processor.ts';
import type { SourceReader } from './source-reader.ts';
import { only } from '../testing/only.ts';

const NOTHING = (): void => undefined;

const WIDE = 'ConfigMap/a/wide';
const MANY = 10_000;

const redis = useRealRedis();
let catalog: Catalog;
let queues: Queues;
/** Writes to the catalog so far. */
let sequence: number;

beforeEach(() => {
  sequence = 0;
  const keys = redis.freshKeys();
  catalog = new Catalog(redis.client as RedisClient, keys);
  const connection = redis.client as RedisClient;
  queues = new Queues({ connection, prefix: keys.prefix, debounce: 60_000, attempts: 3, backoff: 1_000 });
});
afterEach(() => queues.close());

function next(): { term: string; sequence: number } {
  sequence += 1;
  return { term: '1', sequence: sequence - 1 };
}

/** Adds a source and this many users, which all ask for reloads, to the catalog. */
async function publish(source: SourceKey, users: number): Promise<void> {
  const { namespace, name } = partsOf(source);
  const uses = [`ConfigMap/${name}`];
  const annotations = { [DEFAULT_ANNOTATION_KEYS.auto]: 'true' };
  const begins = sequence === 0;
  await catalog.publish({ writer: next(), begins, sources: [[source, sourceRow()]], workloads: [] });
  for (let at = 0; at < users; at += 1_000) {
    const some = Array.from({ length: Math.min(1_000, users - at) }, (_, n) => `${name}-${at + n}`);
    const workloads = some.map(
      (user) =>
        [
          `Deployment/${namespace}/${user}`,
          { row: workloadRow({ uid: user, uses, dependencies: uses, annotations }), index: [source] },
        ] as const,
    );
    await catalog.publish({ writer: next(), sources: [], workloads });
  }
}

/** Runs a change job with the real catalog and queue, and counts what it does. */
function counted() {
  const done = { reads: 0, rows: [] as number[], users: 0 };
  const processor = new ChangeProcessor(
    {
      catalog: only<Catalog>('catalog', {
        eachUser: async function* (source: SourceKey, count: number) {
          for await (const some of catalog.eachUser(source, count)) {
            done.users = Math.max(done.users, some.length);
            yield some;
          }
        },
        eachWorkloadOf: (keys: WorkloadKey[]) => {
          done.rows.push(keys.length);
          return catalog.eachWorkloadOf(keys);
        },
        sourceFacts: (keys: SourceKey[]) => catalog.sourceFacts(keys),
        putReading: async () => undefined,
        backingOff: (keys: WorkloadKey[]) => catalog.backingOff(keys),
      }),
      queue: queues,
      sources: only<SourceReader>('sources', {
        read: async () => {
          done.reads += 1;
          return { rv: '10', hash: '1.A', markerHash: 'f00' };
        },
      }),
      history: { before: async () => undefined },
      reports: { judged: NOTHING, expect: NOTHING, enqueued: NOTHING, ended: NOTHING, failed: NOTHING },
    },
    { keys: DEFAULT_ANNOTATION_KEYS, autoReloadAll: false, ignoredWorkloadTypes: [] },
  );
  return { processor, done };
}

describe('a change of a source with 10,000 users', () => {
  it('is read, judged and enqueued in portions, all of it', async () => {
    await publish(WIDE, MANY);
    const { processor, done } = counted();
    const { entry } = await processor.process({ v: 1, source: WIDE, since: 0 });
    const woken = entry.woken.map(({ workload }) => workload);
    expect(await queues.waiting('reloads')).toBe(MANY);
    expect(done.reads).toBe(1);
    expect(woken).toEqual([...woken].sort());
    expect(woken).toHaveLength(MANY);
    expect(Math.max(...done.rows)).toBeLessThanOrEqual(USERS_PER_PORTION);
    // Redis returns what is in one bucket of a set together, so sometimes a few more than requested.
    expect(done.users).toBeLessThanOrEqual(2 * USERS_PER_PORTION);
  });

  it('that fails in the middle is repeated without a second job for anybody', async () => {
    await publish(WIDE, 2_000);
    const failing = counted();
    const enqueue = queues.enqueueReloads.bind(queues);
    let portions = 0;
    queues.enqueueReloads = async (reloads) => {
      portions += 1;
      if (portions === 5) throw new Error('Redis went away');
      await enqueue(reloads);
    };
    await expect(failing.processor.process({ v: 1, source: WIDE, since: 0 })).rejects.toThrow('went away');
    expect(await queues.waiting('reloads')).toBe(4 * USERS_PER_PORTION);
    queues.enqueueReloads = enqueue;
    await counted().processor.process({ v: 1, source: WIDE, since: 0 });
    expect(await queues.waiting('reloads')).toBe(2_000);
  });

  it('lets the changes of other sources be handled in between', async () => {
    const others = Array.from({ length: 8 }, (_, n) => `ConfigMap/b/cm-${n}` as const);
    await publish(WIDE, 4_000);
    for (const source of others) await publish(source, 1);
    const wide = counted();
    const { processor } = counted();
    let isDone = false;
    const handled = wide.processor.process({ v: 1, source: WIDE, since: 0 }).then(() => (isDone = true));
    for (const source of others) {
      const before = wide.done.rows.length;
      await processor.process({ v: 1, source, since: 0 });
      // A few round trips each, so no more than a few portions of the wide one.
      expect(wide.done.rows.length - before).toBeLessThanOrEqual(10);
    }
    expect(isDone).toBe(false);
    await handled;
    expect(await queues.waiting('reloads')).toBe(4_000 + others.length);
  });
});
