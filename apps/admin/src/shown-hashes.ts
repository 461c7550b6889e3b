import type { RedisClient } from '@reroll/redis/connection/redis';
import { shownHashKey } from '@reroll/redis/catalog/shown-hash-key';
import type { SourceKey } from '@reroll/core/model';
import type { RecordHash } from '@reroll/core/record/record-hash';
import { shownHash } from '@reroll/core/record/shown-hash';

/** Gives a hash of a source as it may be shown. */
export type ShowHash = (source: SourceKey, hash: RecordHash) => string;

/** The secret under which hashes are shown, which all admins share; asked for when Redis may have another one. */
export class ShownHashes {
  readonly #redis: RedisClient;
  readonly #key: string;
  #secret = '';

  /** `key`: `CatalogKeys.shownHashKey`. */
  constructor(redis: RedisClient, key: string) {
    this.#redis = redis;
    this.#key = key;
  }

  /** Rejects with ioredis' error. To be called before anything is shown. */
  async agree(): Promise<void> {
    this.#secret = await shownHashKey(this.#redis, this.#key);
  }

  /** As it was agreed on last. */
  get secret(): string {
    return this.#secret;
  }

  readonly shown: ShowHash = (source, hash) => shownHash(source, hash, this.#secret);
}
