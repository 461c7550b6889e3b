import type { SourceKey, WorkloadKey } from '@reroll/core/model';
import type { Catalog } from '@reroll/redis/catalog/catalog';
import { RateBudget } from '@reroll/redis/processes/rate';
import type { RedisClient } from '@reroll/redis/connection/redis';
import { DEFAULT_ANNOTATION_KEYS } from '@reroll/core/annotations/annotation-keys';
import { writeRecord } from '@reroll/core/record/record';
import type { WorkloadRow } from '@reroll/core/state/rows';
import type { KubeClient } from '@reroll/kube/client/connection';
import { beforeEach, describe, expect, it } from 'vitest';
import { sourceRow, workloadRow } from '@reroll/redis/catalog/testing/rows';
import { useRealRedis } from '@reroll/redis/testing/real-redis';
import { NotYetError } from '../job-error.ts';
import type { Held } from './reload-holds.ts';
import { ReloadProcessor, type ReloadSettings } from './reload.processor.ts';
import type { Reload } from './send/reload-way.ts';
import type { ReloadWays } from './send/reload-ways.ts';
import type { SourceReader } from '../change/source-reader.ts';
import { only } from '../testing/only.ts';
import { WorkloadReader } from './workload-reader.ts';

const KEYS = DEFAULT_ANNOTATION_KEYS;
const AUTO = { [KEYS.auto]: 'true' };
const OLD = `1.${'A'.repeat(43)}`;
const NEW = `1.${'B'.repeat(43)}`;
const [FIRST, SECOND] = ['Deployment/a/0000', 'Deployment/a/0001'] as const;

const redis = useRealRedis();
let key: string;

beforeEach(() => {
  key = redis.freshKeys().budget;
});

/** Workloads `Deployment/<namespace>/<name>` that use the changed ConfigMap `cm` of their namespace. */
class World {
  /** GETs of the API server. */
  gets = 0;
  readonly sent: string[] = [];
  /** Workloads whose reload is held. */
  frozen: ReadonlySet<string> = new Set();
  /** The record of each workload; all were last reloaded with the old data. */
  readonly records = new Map<string, string>();
  readonly catalog = only<Catalog>('catalog', {
    workloads: async ([workload]: [WorkloadKey]) => new Map([[workload, this.row(workload)]]),
    sources: async (sources: SourceKey[]) =>
      new Map(sources.map((source) => [source, sourceRow({ hash: NEW, rv: '20', dataRv: '20' })])),
    reloadFacts: async (workload: WorkloadKey, sources: SourceKey[]) => ({
      workload: this.row(workload),
      sources: await this.catalog.sources(sources),
      readings: new Map(sources.map((source) => [source, { rv: '20', hash: NEW, markerHash: 'f00' }])),
    }),
  });

  recordOf(workload: string): string | undefined {
    return this.records.get(workload) ?? writeRecord({ 'ConfigMap/cm': OLD });
  }

  /** The row as the leader wrote it, which may be behind the workload. */
  row(workload: string): WorkloadRow {
    const uses = ['ConfigMap/cm'];
    return workloadRow({
      uid: workload,
      uses,
      dependencies: uses,
      annotations: AUTO,
      record: writeRecord({ 'ConfigMap/cm': OLD }),
    });
  }

  readonly client = only<KubeClient>('client', {
    get: async (path: string) => {
      this.gets += 1;
      const [, namespace = '', name = ''] = /namespaces\/([^/]+)\/deployments\/([^/]+)$/u.exec(path) ?? [];
      const workload = `Deployment/${namespace}/${name}`;
      const record = this.recordOf(workload);
      const annotations = { ...AUTO, ...(record === undefined ? {} : { 'reroll.dev/applied': record }) };
      const app = { name: 'app', envFrom: [{ configMapRef: { name: 'cm' } }] };
      return {
        body: {
          metadata: {
            name,
            namespace,
            uid: workload,
            generation: 1,
            resourceVersion: '30',
            annotations,
            creationTimestamp: '2026-01-01T00:00:00Z',
          },
          spec: { template: { metadata: {}, spec: { containers: [app] } } },
        },
      };
    },
  });

  readonly sources = only<SourceReader>('sources', {
    read: async () => {
      this.gets += 1;
      return {
        rv: '20',
        hash: NEW,
        markerHash: 'f00',
        owners: [],
        isRecorded: false,
        isKeyAwaited: false,
        isMarked: false,
      };
    },
  });

  readonly ways = only<ReloadWays>('ways', {
    patch: {
      send: async (reload: Reload) => {
        this.sent.push(reload.workload.key);
        this.records.set(reload.workload.key, reload.record);
        return {};
      },
    },
  });

  processor(budget: RateBudget, settings: Partial<ReloadSettings> = {}): ReloadProcessor {
    const decision = { keys: KEYS, autoReloadAll: false, ignoredWorkloadTypes: [] };
    const nothing = (): void => undefined;
    const reports = {
      overtaken: nothing,
      leftToOthers: nothing,
      ended: nothing,
      held: async () => undefined,
      failed: nothing,
    };
    const holds = {
      read: async () => ({ namespace: {}, installation: {} }),
      holdOf: async ({ workload }: Held) =>
        this.frozen.has(workload.key) ? ({ reason: 'Frozen', detail: '' } as const) : undefined,
      reloadsAfter: () => undefined,
      lookAgain: async () => undefined,
      leave: async () => undefined,
      keepSlot: async () => undefined,
    };
    return new ReloadProcessor(
      {
        catalog: this.catalog,
        requests: { of: async () => undefined, done: async () => undefined },
        workloads: new WorkloadReader(this.client, this.catalog, decision),
        sources: this.sources,
        holds,
        ways: this.ways,
        budget,
        reports,
      },
      {
        dryRun: false,
        adoptStale: 'report',
        onDelete: 'never',
        notifyOnly: false,
        patchesUnread: false,
        decision,
        ...settings,
      },
    );
  }
}

/** One slot, and no other for a minute; `refill` adds one. */
function oneSlot(): RateBudget {
  return new RateBudget(redis.client as RedisClient, key, 1);
}

async function refill(): Promise<void> {
  await redis.client.del(key);
}

function workloads(namespace: string, count: number): WorkloadKey[] {
  return Array.from(
    { length: count },
    (_, n) => `Deployment/${namespace}/${String(n).padStart(4, '0')}` as const,
  );
}

/** Handles a job for each of these; returns those that must be retried. */
async function handleAll(processor: ReloadProcessor, keys: readonly WorkloadKey[]): Promise<WorkloadKey[]> {
  const again = await Promise.all(
    keys.map(async (workload) => {
      try {
        await processor.process({ v: 1, workload, since: 0 });
        return [];
      } catch (error) {
        if (error instanceof NotYetError) return [workload];
        throw error;
      }
    }),
  );
  return again.flat();
}

describe('with a limit of reloads', () => {
  it('1,000 that wait read nothing, and each reload takes at most three GETs', async () => {
    const world = new World();
    const processor = world.processor(oneSlot());
    let waiting = workloads('a', 1_000);
    for (let slot = 1; slot <= 10; slot += 1) {
      await refill();
      waiting = await handleAll(processor, waiting);
      expect(world.sent).toHaveLength(slot);
      expect(world.gets).toBeLessThanOrEqual(3 * slot);
    }
    expect(world.sent).toEqual(workloads('a', 10));
  });

  it('two namespaces take turns', async () => {
    const world = new World();
    const processor = world.processor(oneSlot());
    let waiting = [...workloads('a', 100), ...workloads('b', 5)];
    // The first workload goes before any of the other namespace.
    for (let slot = 0; slot <= 10; slot += 1) {
      await refill();
      waiting = await handleAll(processor, waiting);
    }
    const ofB = world.sent.slice(1).filter((workload) => workload.startsWith('Deployment/b/'));
    expect(ofB).toEqual(workloads('b', 5));
  });

  it('1,000 that are held keep no place in the line', async () => {
    const world = new World();
    const budget = oneSlot();
    const processor = world.processor(budget);
    const frozen = workloads('a', 1_000);
    world.frozen = new Set(frozen);
    await budget.claim('Deployment/busy/0');
    await budget.end('Deployment/busy/0', true);
    const free = 'Deployment/a/free' as const;
    expect(await handleAll(processor, [...frozen, free])).toEqual([free]);
    await refill();
    expect(await handleAll(processor, [...frozen, free])).toEqual([]);
    expect(world.sent).toEqual([free]);
  });

  it('a slot that another worker left when it died serves the same workload', async () => {
    const world = new World();
    const budget = oneSlot();
    await budget.claim(FIRST);
    expect(await handleAll(world.processor(budget), [SECOND, FIRST])).toEqual([SECOND]);
    expect(world.sent).toEqual([FIRST]);
  });

  it('a reload that only a read shows takes a slot then, and waits for it without reading', async () => {
    const world = new World();
    const uses = ['ConfigMap/cm'];
    const stale = { uses, dependencies: uses, stale: uses, baselines: { 'ConfigMap/cm': '20' } };
    world.row = (uid) => workloadRow({ uid, ...stale, annotations: AUTO });
    world.recordOf = () => undefined;
    const processor = world.processor(oneSlot(), { adoptStale: 'reload' });
    const again = await handleAll(processor, workloads('a', 2));
    expect(world.sent).toHaveLength(1);
    expect(again).toHaveLength(1);
    const { gets } = world;
    for (let n = 0; n < 10; n += 1) expect(await handleAll(processor, again)).toEqual(again);
    expect(world.gets).toBe(gets);
  });
});

describe('without a limit, or where nothing is patched', () => {
  it.each([
    ['no limit', 0, {}],
    ['changes are posted instead', 60, { notifyOnly: true }],
  ])('%s: Redis is not asked for a slot', async (_, perMinute, settings) => {
    const world = new World();
    const budget = new RateBudget(only<RedisClient>('redis', {}), key, perMinute);
    expect(await handleAll(world.processor(budget, settings), workloads('a', 3))).toEqual([]);
    expect(world.sent).toHaveLength(perMinute === 0 ? 3 : 0);
  });
});
