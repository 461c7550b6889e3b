import type { SourceRow, WorkloadRow } from '@reroll/core/state/rows';
import type { SourceKey, SourceKind, WorkloadKey, WorkloadKind } from '@reroll/core/model';
import type { CatalogKeys } from './keys.ts';
import type { RedisClient } from '../connection/redis.ts';
import { decodeRows } from './decode-rows.ts';
import { decodeSource, decodeWorkload } from './row-codec.ts';
import { scanHash } from './scan-hash.ts';

/**
 * The rows of one namespace, of one kind or of all kinds. Redis scans every row of the cluster for them (some 100 ms for 100,000),
 * so use this for requests of users, not for changes. Rejects with ioredis' error.
 */
export class RowsOfNamespace {
  readonly #redis: RedisClient;
  readonly #keys: Pick<CatalogKeys, 'sources' | 'workloads'>;

  constructor(redis: RedisClient, keys: Pick<CatalogKeys, 'sources' | 'workloads'>) {
    this.#redis = redis;
    this.#keys = keys;
  }

  async workloads(namespace: string, kind: WorkloadKind | '*' = '*'): Promise<Map<WorkloadKey, WorkloadRow>> {
    return await this.#matching(this.#keys.workloads, `${kind}/${namespace}/*`, decodeWorkload);
  }

  async sources(namespace: string, kind: SourceKind): Promise<Map<SourceKey, SourceRow>> {
    return await this.#matching(this.#keys.sources, `${kind}/${namespace}/*`, decodeSource);
  }

  /** Names in Kubernetes contain no special characters of Redis patterns. */
  async #matching<ObjectKey extends string, Row>(
    hash: string,
    pattern: string,
    decode: (text: string) => Row | undefined,
  ): Promise<Map<ObjectKey, Row>> {
    const rows = new Map<ObjectKey, Row>();
    for await (const { fields, texts } of scanHash<ObjectKey>(this.#redis, hash, { match: pattern }))
      for (const [key, row] of await decodeRows(fields, texts, decode)) rows.set(key, row);
    return rows;
  }
}
