import { Catalog } from '@reroll/redis/catalog/catalog';
import { History, streamKey } from '@reroll/redis/history/history';
import type { CatalogKeys } from '@reroll/redis/catalog/keys';
import type { RedisClient } from '@reroll/redis/connection/redis';
import type { ChangeEntry, OutcomeEntry, RolloutEntry } from '@reroll/core/history/entries';
import type { WorkloadRow } from '@reroll/core/state/rows';
import { keyOf, partsOf, type SourceKey, type WorkloadKey } from '@reroll/core/model';
import { hashOf, sourceRow, workloadRow } from '../rows.ts';

/** What is in Redis when the lists are asked for. */
export interface HistoryLoad {
  readonly changes: number;
  /** Each uses one source of its own. */
  readonly workloads: number;
  readonly namespaces: number;
  /** Measured requests of each list. */
  readonly requests: number;
}

/** Redis' memory in bytes before, with the history, and with the catalog too. */
export interface RedisMemory {
  readonly before: number;
  readonly history: number;
  readonly catalog: number;
}

const AT_ONCE = 500;
const DAY = 86_400_000;

/** Fills Redis by the writers that watcher and worker use. */
export async function fill(redis: RedisClient, keys: CatalogKeys, load: HistoryLoad): Promise<RedisMemory> {
  const before = await memory(redis);
  await fillHistory(redis, keys, load);
  const history = await memory(redis);
  await fillCatalog(new Catalog(redis, keys), load);
  return { before, history, catalog: await memory(redis) };
}

/** One change each, that rolls one workload and leaves one alone; every hundredth fails, every fiftieth is stuck. */
async function fillHistory(redis: RedisClient, keys: CatalogKeys, load: HistoryLoad): Promise<void> {
  const history = new History(redis, keys, {
    maxEntries: load.changes,
    maxAge: DAY,
    maxBytes: load.changes * 8_192,
  });
  const begun = Date.now() - load.changes;
  await inPortions(load.changes, async (index) => {
    const at = begun + index;
    const workload = workloadKey(index, load);
    await history.addChange(changeOf(index, at, load));
    await history.addOutcome(outcomeOf(index, at, workload));
    if (index % 100 === 0) return;
    const rollout = rolloutOf(index, at, workload);
    const entry = JSON.stringify(rollout);
    if (rollout.state === 'stuck') await redis.hset(keys.rollouts, workload, entry);
    const stream = streamKey(keys, 'rollouts');
    await redis.xadd(stream, 'MAXLEN', '~', load.changes, '*', 'entry', entry);
  });
}

async function fillCatalog(catalog: Catalog, load: HistoryLoad): Promise<void> {
  for (let from = 0, sequence = 0; from < load.workloads; from += AT_ONCE, sequence += 1) {
    const indexes = Array.from({ length: Math.min(AT_ONCE, load.workloads - from) }, (_, at) => from + at);
    await catalog.publish({
      writer: { term: '1', sequence },
      sources: indexes.map((index) => [sourceKey(index, load), sourceRow(index)] as const),
      workloads: indexes.map((index) => {
        const row = rowOf(index);
        return [workloadKey(index, load), { row, index: [sourceKey(index, load)] }] as const;
      }),
    });
  }
}

async function inPortions(count: number, write: (index: number) => Promise<void>): Promise<void> {
  for (let from = 0; from < count; from += AT_ONCE) {
    const indexes = Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, at) => from + at);
    await Promise.all(indexes.map(write));
  }
}

export function workloadKey(index: number, { namespaces, workloads }: HistoryLoad): WorkloadKey {
  const which = index % workloads;
  return `Deployment/team-${which % namespaces}/service-${which}`;
}

export function sourceKey(index: number, load: HistoryLoad): SourceKey {
  return keyOf({ ...partsOf(workloadKey(index, load)), kind: 'ConfigMap' });
}

function changeOf(index: number, at: number, load: HistoryLoad): ChangeEntry {
  const workload = workloadKey(index, load);
  const detail = 'the workload has reloader.stakater.com/auto: "true", and a container uses the source';
  return {
    source: sourceKey(index, load),
    cause: 'updated',
    since: at,
    at: at + 5,
    from: hashOf(`${index - 1}`),
    hash: hashOf(`${index}`),
    woken: [{ workload, reason: 'AutoReload', detail }],
    leftAlone: [
      { workload: `${workload}-canary`, reason: 'NotAnnotated', detail: 'no annotation asks for it' },
    ],
  };
}

function outcomeOf(index: number, at: number, workload: WorkloadKey): OutcomeEntry {
  const name = `ConfigMap/${partsOf(workload).name}`;
  const common = { workload, since: at, at: at + 30, attempts: 5 };
  if (index % 100 === 0)
    return {
      ...common,
      state: 'failed',
      reason: 'Invalid',
      sources: {},
      rolled: [],
      attempt: 5,
      error: 'KUBE_API 422 Invalid',
    };
  return {
    ...common,
    state: 'reloaded',
    reason: 'Reloaded',
    sources: { [name]: 'Roll' },
    rolled: [name],
    attempt: 1,
    generation: index + 2,
  };
}

function rolloutOf(index: number, at: number, workload: WorkloadKey): RolloutEntry {
  const isStuck = index % 50 === 1;
  return {
    workload,
    generation: index + 2,
    state: isStuck ? 'stuck' : 'complete',
    code: isStuck ? 'ProgressDeadlineExceeded' : 'Complete',
    updated: 3,
    ready: isStuck ? 2 : 3,
    desired: 3,
    since: at + 30,
    at: at + 20_000,
    conditions: [
      { type: 'Available', status: 'True', reason: 'MinimumReplicasAvailable' },
      { type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable' },
    ],
  };
}

/** Every two-hundredth needs a reload. */
function rowOf(index: number): WorkloadRow {
  const isPending = index % 200 === 0;
  const row = workloadRow(index, {
    [`ConfigMap/service-${index}`]: hashOf(isPending ? 'other' : `${index}`),
  });
  return isPending ? { ...row, templateRv: '1' } : row;
}

async function memory(redis: RedisClient): Promise<number> {
  return Number(/^used_memory:(\d+)/mu.exec(await redis.info('memory'))?.[1] ?? 0);
}
