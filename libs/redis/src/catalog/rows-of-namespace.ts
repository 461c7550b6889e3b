import type { SourceRow, WorkloadRow } from '@reroll/core/state/rows';
import type { SourceKey, SourceKind, WorkloadKey, WorkloadKind } from '@reroll/core/model';
import type { CatalogKeys } from './keys.ts';
import type { RedisClient } from '../connection/redis.ts';
import { decodeSource, decodeWorkload } from './row-codec.ts';

const SCAN_COUNT = 1000;

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
    let cursor = '0';
    do {
      const [next, flat] = await this.#redis.hscan(hash, cursor, 'MATCH', pattern, 'COUNT', SCAN_COUNT);
      cursor = next;
      for (let at = 0; at < flat.length; at += 2) {
        const [key, text = ''] = flat.slice(at, at + 2) as [ObjectKey?, string?];
        const row = decode(text);
        if (key !== undefined && row !== undefined) rows.set(key, row);
      }
    } while (cursor !== '0');
    return rows;
  }
}
