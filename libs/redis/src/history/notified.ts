import type { RedisClient } from '../connection/redis.ts';
import type { SourceKey } from '@reroll/core/model';

/** Longer than any job is repeated. */
const KEEP_SECONDS = 7 * 86_400;

/** Instead of a hash: the source does not exist. */
export const GONE = 'gone';

/** Which state of a source receivers were notified of last, so that a change job that is repeated notifies nobody twice. */
export class Notified {
  readonly #redis: RedisClient;
  readonly #prefix: string;

  /** `prefix`: `CatalogKeys.announced`. */
  constructor(redis: RedisClient, prefix: string) {
    this.#redis = redis;
    this.#prefix = prefix;
  }

  /** Whatever stands for its state, `GONE`, or null if nothing is known. */
  async last(source: SourceKey): Promise<string | null> {
    return await this.#redis.get(this.#prefix + source);
  }

  async put(source: SourceKey, state: string): Promise<void> {
    await this.#redis.set(this.#prefix + source, state, 'EX', KEEP_SECONDS);
  }
}
