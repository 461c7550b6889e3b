import type { Catalog } from '@reroll/redis/catalog/catalog';
import { Processes, settingsInForce } from '@reroll/redis/processes/processes';
import type { RedisClient } from '@reroll/redis/connection/redis';
import { RowsOfNamespace } from '@reroll/redis/catalog/rows-of-namespace';
import { shownHashKey } from '@reroll/redis/catalog/shown-hash-key';
import type { ExplainedSource, ExplainedWorkload, ExplainSettings } from '@reroll/core/explain/facts';
import { patternedKinds, sourcesOf } from '@reroll/core/explain/preview-workload';
import { pendingCauseOf } from '@reroll/core/state/pending';
import { sourceKeyIn, type SourceName, type SourceRow, type WorkloadRow } from '@reroll/core/state/rows';
import { awaitedSharers, sharersOf } from '@reroll/core/state/workloads/template-owner';
import { kindOf, namespaceOf, type SourceKey, type SourceKind, type WorkloadKey } from '@reroll/core/model';
import type { Queues } from '@reroll/redis/queue/queues';

/** The only kind whose pod template other workloads can use. */
const OWNER = 'Deployment';
const FOLLOWER = 'Rollout';

export interface WhyContext {
  readonly redis: RedisClient;
  readonly catalog: Catalog;
  readonly queues: Pick<Queues, 'changes' | 'reloads'>;
}

/** Reads from Redis what explanations need. Every method rejects with ioredis' error. */
export class WhyFacts {
  readonly #redis: RedisClient;
  readonly #catalog: Catalog;
  readonly #rows: RowsOfNamespace;
  readonly #processes: Processes;
  readonly #queues: WhyContext['queues'];

  constructor({ redis, catalog, queues }: WhyContext) {
    this.#redis = redis;
    this.#catalog = catalog;
    this.#queues = queues;
    this.#rows = new RowsOfNamespace(redis, catalog.keys);
    this.#processes = new Processes(redis, catalog.keys);
  }

  /** The settings of the newest worker, alive or not. Undefined if none was seen in the last minutes. */
  async settings(): Promise<ExplainSettings | undefined> {
    return settingsInForce(await this.#processes.all());
  }

  async hashSecret(): Promise<string> {
    return await shownHashKey(this.#redis, this.#catalog.keys.shownHashKey);
  }

  /** The paused queues among those that a change goes through. */
  async pausedQueues(): Promise<string[]> {
    const names = ['changes', 'reloads'] as const;
    const arePaused = await Promise.all(names.map((name) => this.#queues[name].isPaused()));
    return names.filter((_name, index) => arePaused[index]);
  }

  /** Undefined if the catalog does not know it. */
  async workload(key: WorkloadKey): Promise<ExplainedWorkload | undefined> {
    const row = (await this.#catalog.workloads([key])).get(key);
    return row && { key, row };
  }

  /** The rows of the workloads for which a correction of its record waits; undefined for one that the catalog does not know. */
  async sharersOf(
    workload: ExplainedWorkload,
    { dryRun, triggers }: ExplainSettings,
  ): Promise<(WorkloadRow | undefined)[]> {
    if (sharersOf(workload.row).length === 0) return [];
    const isReloaded = await this.#isOwed(workload, triggers);
    const keys = awaitedSharers(workload.row, { dryRun, isReloaded });
    const rows = await this.#catalog.workloads(keys);
    return keys.map((key) => rows.get(key));
  }

  /** Whether a reload is pending, for any source. */
  async #isOwed({ key, row }: ExplainedWorkload, triggers: ExplainSettings['triggers']): Promise<boolean> {
    const keyOf = (name: SourceName): SourceKey => sourceKeyIn(namespaceOf(key), name);
    const sources = await this.#catalog.sources(row.dependencies.map(keyOf));
    return pendingCauseOf(row, (name) => sources.get(keyOf(name)), triggers) === 'owed';
  }

  async source(key: SourceKey): Promise<ExplainedSource> {
    return { key, row: (await this.#catalog.sources([key])).get(key) };
  }

  /** In portions of about 2 MiB. */
  async *eachWorkloadOf(namespace: string): AsyncGenerator<ExplainedWorkload[], void, void> {
    for await (const rows of this.#rows.eachWorkload(namespace)) yield explained(rows);
  }

  /** The workloads that use its pod template, in portions of about 2 MiB. */
  async *eachFollowerOf({ key }: ExplainedWorkload): AsyncGenerator<ExplainedWorkload[], void, void> {
    if (kindOf(key) !== OWNER) return;
    for await (const rows of this.#rows.eachWorkload(namespaceOf(key), FOLLOWER))
      yield explained(rows).filter(({ row }) => row.templateOwner?.key === key);
  }

  /** Returns a reader of the sources that workloads of a namespace relate to, which reads each once. */
  sourcesOf(namespace: string, { decision: { keys } }: ExplainSettings): SourcesReader {
    const rows = new Map<SourceKey, SourceRow>();
    const read = new Set<SourceKey | SourceKind>();
    const unread = <Name extends SourceKey | SourceKind>(names: readonly Name[]): Name[] =>
      [...new Set(names)].filter((name) => !read.has(name));
    return async (workloads) => {
      const kinds = unread(workloads.flatMap((workload) => patternedKinds(workload, keys)));
      const named = unread(workloads.flatMap((workload) => sourcesOf(workload, keys)));
      const parts = await Promise.all([
        this.#catalog.sources(named),
        ...kinds.map((kind) => this.#rows.sources(namespace, kind)),
      ]);
      for (const name of [...kinds, ...named]) read.add(name);
      for (const [key, row] of parts.flatMap((part) => [...part])) rows.set(key, row);
      return rows;
    };
  }
}

/** Returns all sources that were read so far: at least those that these workloads relate to. */
type SourcesReader = (workloads: readonly ExplainedWorkload[]) => Promise<ReadonlyMap<SourceKey, SourceRow>>;

function explained(rows: ReadonlyMap<WorkloadKey, ExplainedWorkload['row']>): ExplainedWorkload[] {
  return [...rows].map(([key, row]) => ({ key, row }));
}
