import { createHash } from 'node:crypto';
import type { RedisClient } from '../connection/redis.ts';
import type { FoundBy } from '@reroll/core/state/outbox';
import type { SourceHashes, SourceRow, WorkloadRow } from '@reroll/core/state/rows';
import type { SourceKey, WorkloadKey } from '@reroll/core/model';
import type { MarkerScheme } from '@reroll/core/marker/marker-hash';
import type { HashKey } from '@reroll/core/record/record-hash';
import { RV_UNKNOWN, isRv, type Rv } from '@reroll/core/rv';
import { CatalogError } from '../connection/errors.ts';
import type { CatalogKeys } from './keys.ts';
import { PUBLISH } from './publish.lua.ts';
import { ROWS } from './rows.lua.ts';
import { scanHash, SIZE_OF_PORTION, type Fields } from './scan-hash.ts';
import { resetCatalog } from './reset.ts';
import { decodeRows } from './decode-rows.ts';
import { decodeReading, encodeReading } from './reading-codec.ts';
import { decodeSource, decodeWorkload, encodeSource, encodeWorkload } from './row-codec.ts';

/** A leader's position in the sequence of its own writes. */
export interface Writer {
  /** The Lease's resourceVersion when the leader acquired it. */
  readonly term: string;
  readonly sequence: number;
}

export interface Publication {
  /** `sequence`: the number of the write before this one. */
  readonly writer: Writer;
  /** This write begins a chain and follows no other. Default: true for sequence 0. */
  readonly begins?: boolean;
  /**
   * A source without a row left the scope and is removed. The third element tells how its change was found, if a job comes for it.
   */
  readonly sources: readonly (readonly [SourceKey, SourceRow | undefined, (FoundBy | undefined)?])[];
  /** A workload without a row is removed. The third element is the index: the sources under which the workload is found. */
  readonly workloads: readonly (readonly [
    WorkloadKey,
    { row: WorkloadRow; index: readonly SourceKey[] } | undefined,
  ])[];
}

export type Published =
  /** A newer leader has written, so this writer may not write any more. */
  | { readonly refused: true }
  | {
      readonly refused: false;
      /** The write before this one is gone, because Redis was emptied or set back in time. Nothing was written. */
      readonly gap: boolean;
      /** Sources for which the catalog had another hash, and whose change is still to be reported. */
      readonly changed: readonly SourceKey[];
    };

/** Everything that a reload job looks up, read at one moment. */
export interface ReloadFacts {
  readonly workload: WorkloadRow | undefined;
  readonly sources: ReadonlyMap<SourceKey, SourceRow>;
  readonly readings: ReadonlyMap<SourceKey, SourceHashes>;
}

/** How long a reading may be used. It is compared with the catalog on each use. */
const READING_SECONDS = 600;
/** Rows that one call of a script reads. */
const ROWS_PER_CALL = 500;
const LATELY_SECONDS = 10;
const WARNING_SECONDS = 86_400;

/** The read model in Redis. Every method rejects with ioredis' error if Redis cannot be reached. */
export class Catalog {
  readonly keys: CatalogKeys;
  readonly #redis: RedisClient;
  readonly #scheme: MarkerScheme<HashKey>;

  /** `scheme`: of markers, whose keys also seal readings. Default: `auto` without a key, so readings are plain. */
  constructor(
    redis: RedisClient,
    keys: CatalogKeys,
    scheme: MarkerScheme<HashKey> = { hash: 'auto', keys: [] },
  ) {
    this.#redis = redis;
    this.keys = keys;
    this.#scheme = scheme;
  }

  /**
   * Claims this prefix for a cluster. Throws CATALOG_OTHER_CLUSTER if another cluster has it: two clusters under one name would
   * reload each other's workloads. Who may not read the uid neither claims nor is refused: an install that is scoped for a while
   * keeps its claim.
   */
  async claim(clusterUid: string | undefined): Promise<void> {
    // Writes only if the claim is missing: a Redis with full memory refuses writes, and must not keep a process from starting.
    const found = await this.#redis.get(this.keys.cluster);
    if (clusterUid === undefined) return;
    const held = found ?? (await this.#claimFirst(clusterUid));
    if (held === clusterUid) return;
    throw new CatalogError(
      'CATALOG_OTHER_CLUSTER',
      `this Redis holds ${this.keys.prefix} of another cluster: expected kube-system uid ${clusterUid}, ` +
        `found ${held ?? 'none'}. Give each cluster a --cluster-name of its own, or a Redis of its own`,
    );
  }

  async #claimFirst(clusterUid: string): Promise<string | null> {
    await this.#redis.set(this.keys.cluster, clusterUid, 'NX');
    return await this.#redis.get(this.keys.cluster);
  }

  /** Rejects if the server with these keys does not answer. */
  async ask(): Promise<void> {
    await this.#redis.exists(this.keys.cluster);
  }

  async publish(publication: Publication): Promise<Published> {
    const { writer, sources, workloads, begins = writer.sequence === 0 } = publication;
    const reply: unknown = await PUBLISH.run(
      this.#redis,
      [this.keys.writer, this.keys.sources, this.keys.workloads, this.keys.users, this.keys.before],
      [
        writer.term,
        begins ? '' : writer.sequence,
        writer.sequence + 1,
        sources.length,
        ...sources.flatMap(([key, row, foundBy]) => [key, row ? encodeSource(row) : '', foundBy ?? '']),
        ...workloads.flatMap(([key, value]) => [key, value ? encodeWorkload(value.row, value.index) : '']),
      ],
    );
    const published = readReply(reply);
    const gone = workloads.flatMap(([key, value]) => (value ? [] : [key]));
    if (!published.refused && !published.gap && gone.length > 0)
      await this.#redis.hdel(this.keys.pretended, ...gone);
    return published;
  }

  /** Whether the last write is this writer's own, so that nothing was lost and nobody else has written. */
  async isLastWriter(writer: Writer): Promise<boolean> {
    return (await this.#redis.get(this.keys.writer)) === `${writer.term}:${writer.sequence}`;
  }

  /** Returns the term of the leader that wrote last; '0' if there is none. */
  async lastTerm(): Promise<Rv> {
    const [term] = ((await this.#redis.get(this.keys.writer)) ?? '').split(':');
    return isRv(term) ? term : RV_UNKNOWN;
  }

  /** Empties the catalog after a restore of etcd (see `reset.ts`). */
  async reset(fence: Rv): Promise<void> {
    await resetCatalog(this.#redis, this.keys, fence);
  }

  async sources(keys: readonly SourceKey[]): Promise<Map<SourceKey, SourceRow>> {
    return this.#rows(this.keys.sources, keys, decodeSource);
  }

  /** All at once in memory, and each may have a megabyte: take `eachWorkloadOf` for many. */
  async workloads(keys: readonly WorkloadKey[]): Promise<Map<WorkloadKey, WorkloadRow>> {
    const rows = new Map<WorkloadKey, WorkloadRow>();
    for await (const portion of this.eachWorkloadOf(keys))
      for (const [key, row] of portion) rows.set(key, row);
    return rows;
  }

  /**
   * Yields the rows of these workloads, in order, in portions of at most 500 that take about 2 MiB; a portion may be empty. One round
   * trip each.
   */
  async *eachWorkloadOf(
    keys: readonly WorkloadKey[],
  ): AsyncGenerator<ReadonlyMap<WorkloadKey, WorkloadRow>, void, void> {
    for (let at = 0; at < keys.length;) {
      const asked = keys.slice(at, at + ROWS_PER_CALL);
      const texts = await this.#some(this.keys.workloads, asked);
      at += texts.length;
      yield await decodeRows(asked.slice(0, texts.length), texts, decodeWorkload);
    }
  }

  /** Yields every row whose key is wanted, unordered, in portions of at most about `count` and 2 MiB; a row may come twice. */
  eachSource(
    isWanted: (key: SourceKey) => boolean,
    count?: number,
  ): AsyncGenerator<[SourceKey, SourceRow][]> {
    return this.#scan(scanHash(this.#redis, this.keys.sources, { count }), isWanted, decodeSource);
  }

  eachWorkload(
    isWanted: (key: WorkloadKey) => boolean,
    count?: number,
  ): AsyncGenerator<[WorkloadKey, WorkloadRow][]> {
    return this.#scan(scanHash(this.#redis, this.keys.workloads, { count }), isWanted, decodeWorkload);
  }

  /** Yields sources with a change that was not reported yet, unordered, in portions; a source may come twice. */
  async *eachUntold(): AsyncGenerator<readonly SourceKey[]> {
    for await (const { fields } of scanHash<SourceKey>(this.#redis, this.keys.before)) yield fields;
  }

  /** Returns the workloads that use, name or mention a source, sorted. */
  async users(source: SourceKey): Promise<WorkloadKey[]> {
    return (await this.#redis.smembers(this.keys.users + source)).sort() as WorkloadKey[];
  }

  /** `users` in portions of about `count`, unordered; a workload may come twice. */
  async *eachUser(source: SourceKey, count: number): AsyncGenerator<WorkloadKey[]> {
    let cursor = '0';
    do {
      const [next, users] = await this.#redis.sscan(this.keys.users + source, cursor, 'COUNT', count);
      cursor = next;
      yield users as WorkloadKey[];
    } while (cursor !== '0');
  }

  /** Leaves the hashes of a source for the jobs of its change. */
  async putReading(source: SourceKey, reading: SourceHashes): Promise<void> {
    const text = encodeReading(source, reading, this.#scheme.keys);
    await this.#redis.set(this.keys.readings + source, text, 'EX', READING_SECONDS);
  }

  /** Takes one round trip. */
  async reloadFacts(workload: WorkloadKey, sources: readonly SourceKey[]): Promise<ReloadFacts> {
    const [row, facts] = await Promise.all([
      this.#redis.hget(this.keys.workloads, workload),
      this.sourceFacts(sources),
    ]);
    return { workload: row === null ? undefined : decodeWorkload(row), ...facts };
  }

  /** The rows of these sources, and the hashes that were left for the jobs of their changes. Takes one round trip. */
  async sourceFacts(sources: readonly SourceKey[]): Promise<Pick<ReloadFacts, 'sources' | 'readings'>> {
    if (sources.length === 0) return { sources: new Map(), readings: new Map() };
    const [rows, readings] = await Promise.all([
      this.#redis.hmget(this.keys.sources, ...sources),
      this.#redis.mget(...sources.map((source) => this.keys.readings + source)),
    ]);
    return {
      sources: await decodeRows(sources, rows, decodeSource),
      readings: await decodeRows(sources, readings, (text, source) =>
        decodeReading(source, text, this.#scheme),
      ),
    };
  }

  /** Whether this warning about a workload is to be given: it is another one than the last of its kind, or a day has passed. */
  async isNewWarning(workload: WorkloadKey, kind: string, warning: string): Promise<boolean> {
    return await this.#isNew(`${workload}:${kind}`, warning);
  }

  /**
   * Whether this hold of a workload, or halt of a source's change, is to be reported: it is another one than the last that was, or a day has
   * passed. Another look at it reports what was left out.
   */
  async isNewHold(held: WorkloadKey | SourceKey, hold: string): Promise<boolean> {
    return await this.#isNew(`${held}:hold`, hold);
  }

  /** The workload is not held any more: the next hold is to be reported, even if its text is the same. */
  async forgetHold(workload: WorkloadKey): Promise<void> {
    await this.#redis.del(`${this.keys.warned}${workload}:hold`);
  }

  /** At most once in ten seconds, however often the text changes. Takes the same few bytes for every text. */
  async #isNew(name: string, text: string): Promise<boolean> {
    const key = this.keys.warned + name;
    const hash = createHash('sha256').update(text).digest('base64url');
    if ((await this.#redis.get(key)) === hash) return false;
    if ((await this.#redis.set(`${key}:lately`, '1', 'EX', LATELY_SECONDS, 'NX')) !== 'OK') return false;
    await this.#redis.set(key, hash, 'EX', WARNING_SECONDS);
    return true;
  }

  /** Returns the record that a dry run pretends to have written. */
  async pretended(workload: WorkloadKey): Promise<string | undefined> {
    return (await this.#redis.hget(this.keys.pretended, workload)) ?? undefined;
  }

  async pretend(workload: WorkloadKey, record: string): Promise<void> {
    await this.#redis.hset(this.keys.pretended, workload, record);
  }

  /** The records that are written from now on are real, so a later dry run begins with them. */
  async dropPretended(): Promise<void> {
    await this.#redis.del(this.keys.pretended);
  }

  /** Returns the ids of reload jobs that wait for their next attempt, so that a new change can bring them forward. */
  async backingOff(workloads: readonly WorkloadKey[]): Promise<Map<WorkloadKey, string>> {
    return this.#rows(this.keys.backingOff, workloads, (jobId) => jobId);
  }

  async setBackingOff(workload: WorkloadKey, jobId: string | null): Promise<void> {
    if (jobId === null) await this.#redis.hdel(this.keys.backingOff, workload);
    else await this.#redis.hset(this.keys.backingOff, workload, jobId);
  }

  async #rows<ObjectKey extends string, Row>(
    hash: string,
    keys: readonly ObjectKey[],
    decode: (text: string) => Row | undefined,
  ): Promise<Map<ObjectKey, Row>> {
    if (keys.length === 0) return new Map();
    return await decodeRows(keys, await this.#redis.hmget(hash, ...keys), decode);
  }

  /** The rows of the first of these fields, at least of one. */
  async #some(hash: string, fields: readonly string[]): Promise<readonly (string | null)[]> {
    const reply: unknown = await ROWS.run(this.#redis, [hash], [SIZE_OF_PORTION, ...fields]);
    if (Array.isArray(reply) && reply.length > 0) return reply as (string | null)[];
    throw new CatalogError('CATALOG_BAD_REPLY', `expected a list of rows, given ${typeof reply}`);
  }

  /** Returns keys unchecked; `isWanted` and the resync handle invalid ones. */
  async *#scan<ObjectKey extends string, Row>(
    portions: AsyncIterable<Fields<ObjectKey>>,
    isWanted: (key: ObjectKey) => boolean,
    decode: (text: string) => Row | undefined,
  ): AsyncGenerator<[ObjectKey, Row][]> {
    for await (const { fields, texts } of portions) {
      const wanted = fields.map((key, index) => (isWanted(key) ? texts[index] : undefined));
      yield [...(await decodeRows(fields, wanted, decode))];
    }
  }
}

function readReply(reply: unknown): Published {
  if (!Array.isArray(reply) || typeof reply[0] !== 'number') {
    throw new CatalogError(
      'CATALOG_BAD_REPLY',
      `expected a list that begins with a number, given ${typeof reply}`,
    );
  }
  const [status, ...changed] = reply as [number, ...SourceKey[]];
  return status === -1 ? { refused: true } : { refused: false, gap: status === 1, changed };
}
