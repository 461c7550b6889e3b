import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { WorkloadRow } from '@reroll/core/state/rows';
import type { SourceKey, WorkloadKey } from '@reroll/core/model';
import { EXPLAIN_SETTINGS } from '@reroll/core/testing/explaining';
import { AUTO, sourceRow } from '@reroll/core/testing/rows';
import type { PreviewRequest } from '@reroll/shared/api/explain';
import { Catalog } from '@reroll/redis/catalog/catalog';
import { workloadRow } from '@reroll/redis/catalog/testing/rows';
import type { RedisClient } from '@reroll/redis/connection/redis';
import { Processes } from '@reroll/redis/processes/processes';
import { useRealRedis } from '@reroll/redis/testing/real-redis';
import { beforeAll, expect, it } from 'vitest';
import { anonymousReader } from '../auth/static-tokens.ts';
import { WhyFacts, type WhyContext } from './why-facts.ts';
import { Why } from './why.ts';

const MEGABYTE = 1_000_000;
const MANY = 60;
const SOURCE: SourceKey = 'ConfigMap/shop/cm';
const source = { kind: 'ConfigMap', namespace: 'shop', name: 'cm' } as const;
const workload = { kind: 'Deployment', namespace: 'shop', name: 'web' } as const;

const redis = useRealRedis();
let catalog: Catalog;
let sequence = 0;
/** Bytes of the heap at each read, once what nobody holds is gone. */
let held: number[] = [];

beforeAll(async () => {
  catalog = new Catalog(measuring(redis.client), redis.freshKeys());
  const settings = EXPLAIN_SETTINGS;
  const process = { app: 'worker', name: 'w', version: '1', startedAt: 1, settings } as const;
  await new Processes(redis.client, catalog.keys).write('w', process);
  await catalog.publish({
    writer: { term: '1', sequence: sequence++ },
    sources: [[SOURCE, sourceRow(5, 'a')]],
    workloads: [],
  });
  const uses = ['ConfigMap/cm'];
  const row = { uses, dependencies: uses, annotations: AUTO };
  await publish('Deployment/shop/web', row);
  const owner = { key: 'Deployment/shop/web', uid: 'u', generation: 1, rv: '1', isMarked: false } as const;
  for (let at = 0; at < MANY; at += 1) {
    const record = `${at}`.padEnd(MEGABYTE, 'x');
    await publish(`Rollout/shop/r${at}`, { ...row, templateOwner: owner, record });
  }
});

async function publish(key: WorkloadKey, row: Partial<WorkloadRow>): Promise<void> {
  const workloads = [[key, { row: workloadRow(row), index: [SOURCE] }]] as const;
  await catalog.publish({ writer: { term: '1', sequence: sequence++ }, sources: [], workloads });
}

function measuring(real: RedisClient): RedisClient {
  return new Proxy(real, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      const call = value.bind(target) as (...args: unknown[]) => unknown;
      return (...args: unknown[]) => {
        if (String(name).startsWith('reroll:') || name === 'hscan') held.push(heldNow());
        return call(...args);
      };
    },
  });
}

function heldNow(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  setFlagsFromString('--no-expose-gc');
  return process.memoryUsage().heapUsed;
}

it.each<[string, PreviewRequest, string]>([
  ['a source', { of: 'source', source }, '61 workloads would reload, 0 would be left alone.'],
  [
    'a source with other annotations',
    { of: 'source', source, annotations: { 'reloader.stakater.com/ignore': 'true' } },
    "0 workloads would reload, 61 would be left alone. 61 verdicts differ from today's.",
  ],
  [
    'a workload with many followers',
    { of: 'workload', workload, annotations: {} },
    // Followers are reloaded by annotations of their own.
    "60 workloads would reload, 1 would be left alone. 1 verdict differs from today's.",
  ],
])('a preview of %s holds the rows of one portion at a time', async (_, asked, expected) => {
  const client = measuring(redis.client);
  const facts = new WhyFacts({ redis: client, catalog, queues: {} as WhyContext['queues'] });
  const why = new Why({
    facts,
    namespaces: { of: async () => ({ namespace: {}, installation: {} }) },
    waves: { holdOf: async () => undefined },
  });
  const caller = { ...anonymousReader(), seesAll: async () => true };
  const before = heldNow();
  held = [];
  const { verdicts, conclusion } = await why.preview(asked, caller, new AbortController().signal);
  expect(conclusion).toBe(expected);
  expect(verdicts).toHaveLength(MANY + 1);
  expect(held.length).toBeGreaterThan(MANY / 5);
  expect(Math.max(...held) - before).toBeLessThan(20 * MEGABYTE);
});
