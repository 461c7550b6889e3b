import type { RedisClient } from '../connection/redis.ts';
import type { SourceKey, WorkloadKey } from '@reroll/core/model';

/** A group that nobody sends, because alerts were switched off, goes after so many seconds. */
const GROUP_SECONDS = 86_400;

/** The workloads of an alert that is still to be sent: one set a source. */
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

  /** By name. */
  async members(source: SourceKey): Promise<WorkloadKey[]> {
    return (await this.#redis.smembers(this.#prefix + source)).sort() as WorkloadKey[];
  }

  /** Those that were told of; who came meanwhile stays. */
  async remove(source: SourceKey, workloads: readonly WorkloadKey[]): Promise<void> {
    if (workloads.length > 0) await this.#redis.srem(this.#prefix + source, ...workloads);
  }
}
