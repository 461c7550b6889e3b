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

  /** In portions of about 2 MiB; each workload once. */
  async *eachWorkload(
    namespace: string,
    kind: WorkloadKind | '*' = '*',
  ): AsyncGenerator<ReadonlyMap<WorkloadKey, WorkloadRow>, void, void> {
    const had = new Set<WorkloadKey>();
    const fields = `${kind}/${namespace}/*`;
    for await (const rows of this.#matching<WorkloadKey, WorkloadRow>(
      this.#keys.workloads,
      fields,
      decodeWorkload,
    )) {
      for (const key of rows.keys()) if (had.has(key)) rows.delete(key);
      for (const key of rows.keys()) had.add(key);
      yield rows;
    }
  }

  async sources(namespace: string, kind: SourceKind): Promise<Map<SourceKey, SourceRow>> {
    const found = new Map<SourceKey, SourceRow>();
    const fields = `${kind}/${namespace}/*`;
    for await (const rows of this.#matching<SourceKey, SourceRow>(this.#keys.sources, fields, decodeSource))
      for (const [key, row] of rows) found.set(key, row);
    return found;
  }

  /** Yields portions; a row may come twice. Names in Kubernetes contain no special characters of Redis patterns. */
  async *#matching<ObjectKey extends string, Row>(
    hash: string,
    pattern: string,
    decode: (text: string) => Row | undefined,
  ): AsyncGenerator<Map<ObjectKey, Row>, void, void> {
    for await (const { fields, texts } of scanHash<ObjectKey>(this.#redis, hash, { match: pattern }))
      yield await decodeRows(fields, texts, decode);
  }
}
