import { jsonFields } from '@reroll/core/json';
import type { RolloutEntry } from '@reroll/core/history/entries';
import { isWorkloadKey, type WorkloadKey } from '@reroll/core/model';
import type { RedisClient } from '../connection/redis.ts';

/** Rollouts that are not complete: `progressing` or `stuck`. Other workloads have no rollout under way. */
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

/** Leaves out texts that are not rollouts. */
function entries(texts: readonly (readonly [string, string | null])[]): Map<WorkloadKey, RolloutEntry> {
  const found = new Map<WorkloadKey, RolloutEntry>();
  for (const [workload, text] of texts) {
    if (text === null || !isWorkloadKey(workload)) continue;
    const entry = decode(text);
    if (entry) found.set(workload, { ...entry, workload });
  }
  return found;
}

function decode(text: string): RolloutEntry | undefined {
  const entry = jsonFields(text);
  const { state, generation, since, conditions } = entry;
  const isUnderWay = state === 'progressing' || state === 'stuck';
  const isRollout = isUnderWay && typeof generation === 'number' && typeof since === 'number';
  return isRollout && Array.isArray(conditions) ? (entry as unknown as RolloutEntry) : undefined;
}
