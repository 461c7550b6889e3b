import type { RedisClient } from '../connection/redis.ts';
import type { SourceKey, WorkloadKey } from '@reroll/core/model';

/** Seconds after which an unsent group expires, in case alerts were switched off. */
const GROUP_SECONDS = 86_400;

/** The workloads of alerts that are still to be sent: one set for each source. */
export class AlertGroups {
  readonly #redis: RedisClient;
  readonly #prefix: string;

  /** `prefix`: `CatalogKeys.alerts`. */
  constructor(redis: RedisClient, prefix: string) {
    this.#redis = redis;
    this.#prefix = prefix;
  }

  async add(source: SourceKey, workload: WorkloadKey): Promise<void> {
    const key = this.#prefix + source;
    await Promise.all([this.#redis.sadd(key, workload), this.#redis.expire(key, GROUP_SECONDS)]);
  }

  /** Returns the workloads, sorted. */
  async members(source: SourceKey): Promise<WorkloadKey[]> {
    return (await this.#redis.smembers(this.#prefix + source)).sort() as WorkloadKey[];
  }

  /** Removes workloads that were reported; workloads that were added meanwhile stay. */
  async remove(source: SourceKey, workloads: readonly WorkloadKey[]): Promise<void> {
    if (workloads.length > 0) await this.#redis.srem(this.#prefix + source, ...workloads);
  }
}
