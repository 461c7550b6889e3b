import type { RedisClient } from '../connection/redis.ts';
import type { SourceKey } from '@reroll/core/model';

/**
 * Longer than any job is repeated by default: five attempts, and once after 64 resyncs, which are a minute apart. Not much longer,
 * because one tenant can make sources of new names all the time.
 */
const KEEP_SECONDS = 2 * 3_600;

/** Stands for the hash of a source that does not exist. */
export const GONE = 'gone';

/** The state of each source that receivers were last notified of, so that a repeated change job notifies nobody twice. */
export class Notified {
  readonly #redis: RedisClient;
  readonly #prefix: string;

  /** `prefix`: `CatalogKeys.announced`. */
  constructor(redis: RedisClient, prefix: string) {
    this.#redis = redis;
    this.#prefix = prefix;
  }

  /** Returns the source's state, `GONE`, or null if not known. */
  async last(source: SourceKey): Promise<string | null> {
    return await this.#redis.get(this.#prefix + source);
  }

  async put(source: SourceKey, state: string): Promise<void> {
    await this.#redis.set(this.#prefix + source, state, 'EX', KEEP_SECONDS);
  }
}
