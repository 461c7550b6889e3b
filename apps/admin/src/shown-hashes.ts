import type { RedisClient } from '@reroll/redis/connection/redis';
import { shownHashKey } from '@reroll/redis/catalog/shown-hash-key';
import type { SourceKey } from '@reroll/core/model';
import type { RecordHash } from '@reroll/core/record/record-hash';
import { shownHash } from '@reroll/core/record/shown-hash';

/** Returns a source's hash in the form in which it may be shown. */
export type ShowHash = (source: SourceKey, hash: RecordHash) => string;

/** The secret for shown hashes, which all admins share. Read again whenever Redis may have another one. */
export class ShownHashes {
  readonly #redis: RedisClient;
  readonly #key: string;
  #secret = '';

  /** `key`: `CatalogKeys.shownHashKey`. */
  constructor(redis: RedisClient, key: string) {
    this.#redis = redis;
    this.#key = key;
  }

  /** Rejects with ioredis' error. Call this before any hash is shown. */
  async agree(): Promise<void> {
    this.#secret = await shownHashKey(this.#redis, this.#key);
  }

  /** The secret that was last agreed on. */
  get secret(): string {
    return this.#secret;
  }

  readonly shown: ShowHash = (source, hash) => shownHash(source, hash, this.#secret);
}
