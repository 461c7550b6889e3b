import type { Catalog } from '@reroll/redis/catalog/catalog';
import { Processes, settingsInForce } from '@reroll/redis/processes/processes';
import type { RedisClient } from '@reroll/redis/connection/redis';
import { RowsOfNamespace } from '@reroll/redis/catalog/rows-of-namespace';
import { shownHashKey } from '@reroll/redis/catalog/shown-hash-key';
import type { ExplainedSource, ExplainedWorkload, ExplainSettings } from '@reroll/core/explain/facts';
import { patternedKinds, sourcesOf } from '@reroll/core/explain/preview-workload';
import { withProposed, type ProposedAnnotations } from '@reroll/core/explain/proposed';
import type { SourceRow } from '@reroll/core/state/rows';
import { kindOf, namespaceOf, type SourceKey, type WorkloadKey } from '@reroll/core/model';
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
    this.#processes = new Processes(redis, catalog.keys.processes);
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

  async source(key: SourceKey): Promise<ExplainedSource> {
    return { key, row: (await this.#catalog.sources([key])).get(key) };
  }

  /** The workloads that use, name or mention a source. */
  async usersOf(source: SourceKey): Promise<ExplainedWorkload[]> {
    return explained(await this.#catalog.workloads(await this.#catalog.users(source)));
  }

  async workloadsOf(namespace: string): Promise<ExplainedWorkload[]> {
    return explained(await this.#rows.workloads(namespace));
  }

  /** The workloads that use its pod template. */
  async followersOf({ key }: ExplainedWorkload): Promise<ExplainedWorkload[]> {
    if (kindOf(key) !== OWNER) return [];
    const rollouts = explained(await this.#rows.workloads(namespaceOf(key), FOLLOWER));
    return rollouts.filter(({ row }) => row.templateOwner?.key === key);
  }

  /** The sources that these workloads relate to, now or with what is proposed. */
  async sourcesFor(by: {
    workload: ExplainedWorkload;
    followers: readonly ExplainedWorkload[];
    proposed: ProposedAnnotations;
    settings: ExplainSettings;
  }): Promise<ReadonlyMap<SourceKey, SourceRow>> {
    const { keys } = by.settings.decision;
    const workloads = [by.workload, withProposed(by.workload, by.proposed, keys), ...by.followers];
    const kinds = new Set(workloads.flatMap((workload) => patternedKinds(workload, keys)));
    const named = new Set(workloads.flatMap((workload) => sourcesOf(workload, keys)));
    const namespace = namespaceOf(by.workload.key);
    const parts = await Promise.all([
      this.#catalog.sources([...named]),
      ...[...kinds].map((kind) => this.#rows.sources(namespace, kind)),
    ]);
    return new Map(parts.flatMap((part) => [...part]));
  }
}

function explained(rows: ReadonlyMap<WorkloadKey, ExplainedWorkload['row']>): ExplainedWorkload[] {
  return [...rows].map(([key, row]) => ({ key, row }));
}
