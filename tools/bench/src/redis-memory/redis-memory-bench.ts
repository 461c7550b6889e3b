import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { Catalog, type Publication } from '@reroll/redis/catalog/catalog';
import { catalogKeys } from '@reroll/redis/catalog/keys';
import type { WorkloadRow } from '@reroll/core/state/rows';
import type { SourceKey, WorkloadKey } from '@reroll/core/model';
import { Queues } from '@reroll/redis/queue/queues';
import { hashOf, sourceRow, workloadRow } from '../rows.ts';
import { startRedis } from '../../../cluster/src/servers/redis.ts';

export const PARTS = ['source', 'workload', 'dependency', 'job'] as const;
export type Part = (typeof PARTS)[number];

/**
 * The formula: bytes of Redis for each of them, with keys (`<kind>/<namespace>/<name>`) of about 35 characters; a workload with the
 * rows and the applied record of two sources, for one of which it was reloaded.
 */
export const BYTES_EACH: Readonly<Record<Part, number>> = {
  source: 220,
  workload: 740,
  dependency: 290,
  job: 1_400,
};
/** Whatever there is of them: tables of Redis, and the queues. */
export const BASE = 300_000;

export interface MemoryFigures {
  readonly counts: Readonly<Record<Part, number>>;
  /** Bytes of all of them together. */
  readonly measured: Readonly<Record<Part, number>>;
}

/** Workloads that use one source besides their own. */
const SHARING = 50;
const AT_ONCE = 500;
/** So that no job is taken. */
const HOUR = 3_600_000;

/** Fills a Redis of its own by the writers that watcher and worker use. It ends with it. */
export async function measureRedisMemory(workloads: number, signal: AbortSignal): Promise<MemoryFigures> {
  const dir = mkdtempSync(join(tmpdir(), 'reroll-bench-memory-'));
  const server = await startRedis({ dir: join(dir, 'redis'), signal });
  const redis = new Redis(server.url);
  const keys = catalogKeys({ cluster: '00000000-0000-4000-8000-000000000000', namespace: 'reroll' });
  const queues = new Queues({
    connection: redis,
    prefix: keys.prefix,
    debounce: HOUR,
    attempts: 5,
    backoff: 1_000,
  });
  try {
    const load = new Load(new Catalog(redis, keys), workloads);
    const bytes = [await usedBy(redis)];
    const step = async (action: () => Promise<void>): Promise<void> => {
      await action();
      bytes.push(await usedBy(redis));
    };
    await step(() => load.sources());
    await step(() => load.workloads(false));
    await step(() => load.workloads(true));
    await step(() => enqueue(queues, Math.ceil(workloads / 10)));
    const [none = 0, sources = 0, rows = 0, indexed = 0, all = 0] = bytes;
    return {
      counts: {
        source: load.sourceCount,
        workload: workloads,
        dependency: 2 * workloads,
        job: Math.ceil(workloads / 10),
      },
      measured: {
        source: sources - none,
        workload: rows - sources,
        dependency: indexed - rows,
        job: all - indexed,
      },
    };
  } finally {
    await queues.close();
    redis.disconnect();
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

async function usedBy(redis: Redis): Promise<number> {
  return Number(/^used_memory:(\d+)/mu.exec(await redis.info('memory'))?.[1] ?? 0);
}

async function enqueue(queues: Queues, count: number): Promise<void> {
  for (let from = 0; from < count; from += AT_ONCE) {
    const indexes = range(from, Math.min(from + AT_ONCE, count));
    // oxlint-disable-next-line no-await-in-loop -- one portion after the other
    await queues.enqueueReloads(
      indexes.map((index) => ({
        workload: workloadKey(index),
        since: 1_763_737_200_000,
        source: sharedKey(index),
      })),
    );
  }
}

/** Each workload uses a ConfigMap of its own and one that it shares. */
class Load {
  readonly sourceCount: number;
  readonly #catalog: Catalog;
  readonly #workloads: number;
  #sequence = 0;

  constructor(catalog: Catalog, workloads: number) {
    this.#catalog = catalog;
    this.#workloads = workloads;
    this.sourceCount = workloads + Math.ceil(workloads / SHARING);
  }

  async sources(): Promise<void> {
    const all = range(0, this.#workloads);
    const names = [...all.map(ownKey), ...new Set(all.map(sharedKey))];
    for (let from = 0; from < names.length; from += AT_ONCE)
      // oxlint-disable-next-line no-await-in-loop -- one portion after the other
      await this.#publish({
        sources: names.slice(from, from + AT_ONCE).map((name, at) => [name, sourceRow(from + at)] as const),
        workloads: [],
      });
  }

  /** `indexed`: found by their sources, as in an install. */
  async workloads(indexed: boolean): Promise<void> {
    for (let from = 0; from < this.#workloads; from += AT_ONCE) {
      const indexes = range(from, Math.min(from + AT_ONCE, this.#workloads));
      // oxlint-disable-next-line no-await-in-loop -- one portion after the other
      await this.#publish({
        sources: [],
        workloads: indexes.map((index) => {
          const dependencies = indexed ? [ownKey(index), sharedKey(index)] : [];
          return [workloadKey(index), { row: rowOf(index), index: dependencies }] as const;
        }),
      });
    }
  }

  async #publish(rows: Omit<Publication, 'writer'>): Promise<void> {
    await this.#catalog.publish({ writer: { term: '1', sequence: this.#sequence }, ...rows });
    this.#sequence += 1;
  }
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, at) => from + at);
}

function namespaceOf(index: number): string {
  return `team-${Math.floor(index / 1_000)}`;
}

function workloadKey(index: number): WorkloadKey {
  return `Deployment/${namespaceOf(index)}/service-${index}`;
}

function ownKey(index: number): SourceKey {
  return `ConfigMap/${namespaceOf(index)}/service-${index}-config`;
}

function sharedKey(index: number): SourceKey {
  return `ConfigMap/${namespaceOf(index)}/shared-${Math.floor(index / SHARING)}`;
}

function rowOf(index: number): WorkloadRow {
  const names = [ownKey(index), sharedKey(index)].map((key) => key.replace(`/${namespaceOf(index)}/`, '/'));
  const row = workloadRow(index, Object.fromEntries(names.map((name) => [name, hashOf(name)])));
  return { ...row, generation: 12 };
}
