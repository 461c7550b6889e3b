import type { RedisClient } from '../connection/redis.ts';
import { Script } from '../connection/script.ts';
import type { SourceKey, WorkloadKey } from '@reroll/core/model';

/** Seconds after which an unsent group expires, in case alerts were switched off. */
const GROUP_SECONDS = 86_400;

/**
 * KEYS  1 the group, 2 what is being sent of it
 * ARGV  1 the seconds after which the latter expires
 *
 * Returns what is to be sent: also what an earlier attempt took and did not send.
 */
const TAKE = new Script(`
for _, workload in ipairs(redis.call('SMEMBERS', KEYS[1])) do redis.call('SADD', KEYS[2], workload) end
redis.call('DEL', KEYS[1])
redis.call('EXPIRE', KEYS[2], ARGV[1])
return redis.call('SMEMBERS', KEYS[2])
`);

/**
 * The workloads of alerts that are still to be sent: one set for each source, and one of those that are being sent, so that a workload
 * that is added again meanwhile has another alert.
 */
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

  /** Takes the workloads to send, sorted. Until they are `sent`, the next call returns them again. */
  async take(source: SourceKey): Promise<WorkloadKey[]> {
    const keys = [this.#prefix + source, this.#sending(source)];
    return ((await TAKE.run(this.#redis, keys, [GROUP_SECONDS])) as WorkloadKey[]).sort();
  }

  async sent(source: SourceKey, workloads: readonly WorkloadKey[]): Promise<void> {
    await this.#redis.srem(this.#sending(source), ...workloads);
  }

  #sending(source: SourceKey): string {
    return `${this.#prefix}sending:${source}`;
  }
}
