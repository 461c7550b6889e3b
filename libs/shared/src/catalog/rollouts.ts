import type { RedisClient } from './redis.ts';
import type { WorkloadKey } from '../core/model.ts';
import type { RolloutEntry } from '../core/history/entries.ts';

/** Rollouts that are not complete: `progressing` or `stuck`. A workload that is not there has none under way. */
export class Rollouts {
  readonly #redis: RedisClient;
  readonly #key: string;

  /** `key`: `CatalogKeys.rollouts`. */
  constructor(redis: RedisClient, key: string) {
    this.#redis = redis;
    this.#key = key;
  }

  async of(workloads: readonly WorkloadKey[]): Promise<Map<WorkloadKey, RolloutEntry>> {
    if (workloads.length === 0) return new Map();
    const texts = await this.#redis.hmget(this.#key, ...workloads);
    return entries(workloads.map((workload, index) => [workload, texts[index] ?? null]));
  }

  async all(): Promise<Map<WorkloadKey, RolloutEntry>> {
    return entries(Object.entries(await this.#redis.hgetall(this.#key)));
  }
}

function entries(texts: readonly (readonly [WorkloadKey, string | null])[]): Map<WorkloadKey, RolloutEntry> {
  return new Map(
    texts.flatMap(([workload, text]) =>
      text === null ? [] : [[workload, JSON.parse(text) as RolloutEntry] as const],
    ),
  );
}
