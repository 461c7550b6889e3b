import type { Catalog } from '@reroll/redis/catalog/catalog';
import { scopeKey, type Scope } from '@reroll/core/state/listed';
import type { SourceRow, WorkloadRow } from '@reroll/core/state/rows';
import { kindOf, namespaceOf, type Key, type SourceKey, type WorkloadKey } from '@reroll/core/model';

/** Milliseconds for which the keys are kept: enough for the first lists of many namespaces. */
const KEPT = 60_000;
const KEYS_AT_A_TIME = 1_000;

type Keys = ReadonlyMap<string, readonly Key<string>[]>;

/**
 * The keys of the catalog by kind and namespace, read once for the first lists of many namespaces: each separate read
 * would scan the whole catalog.
 */
export class CatalogAtStart {
  readonly #catalog: Catalog;
  #keys: Promise<Keys> | null = null;

  constructor(catalog: Catalog) {
    this.#catalog = catalog;
  }

  /** Rejects with ioredis' error. */
  async keysOf(scope: Scope): Promise<readonly Key<string>[]> {
    return (await this.#read()).get(scopeKey(scope)) ?? [];
  }

  /** The namespaces that have rows. Rejects with ioredis' error. */
  async namespaces(): Promise<Set<string>> {
    return new Set([...(await this.#read()).values()].flatMap(([key]) => (key ? namespaceOf(key) : [])));
  }

  /** Frees the keys. */
  release(): void {
    this.#keys = null;
  }

  #read(): Promise<Keys> {
    this.#keys ??= this.#readAnew();
    return this.#keys;
  }

  async #readAnew(): Promise<Keys> {
    try {
      const keys = await readKeys(this.#catalog);
      setTimeout(() => this.release(), KEPT).unref();
      return keys;
    } catch (error) {
      this.release();
      throw error;
    }
  }
}

async function readKeys(catalog: Catalog): Promise<Keys> {
  const keys = new Map<string, Key<string>[]>();
  const note = (key: Key<string>): boolean => {
    const scope = scopeKey({ kind: kindOf(key), namespace: namespaceOf(key) });
    const held = keys.get(scope);
    if (held) held.push(key);
    else keys.set(scope, [key]);
    return false;
  };
  for (const rows of [catalog.eachSource(note), catalog.eachWorkload(note)]) {
    for await (const _ of rows) continue;
  }
  return keys;
}

/** The catalog's rows of sources, or of workloads. */
export interface CatalogSide<ObjectKey extends string, Row> {
  some(keys: readonly ObjectKey[]): Promise<ReadonlyMap<ObjectKey, Row>>;
  each(isMeant: (key: ObjectKey) => boolean): AsyncIterable<readonly (readonly [ObjectKey, Row])[]>;
}

export function sourceRows(catalog: Catalog): CatalogSide<SourceKey, SourceRow> {
  return { some: (keys) => catalog.sources(keys), each: (isMeant) => catalog.eachSource(isMeant) };
}

export function workloadRows(catalog: Catalog): CatalogSide<WorkloadKey, WorkloadRow> {
  return { some: (keys) => catalog.workloads(keys), each: (isMeant) => catalog.eachWorkload(isMeant) };
}

/** Which objects a stream shows. */
export interface Reach<ObjectKey extends string> {
  readonly scope: Scope;
  readonly isWatched: (key: ObjectKey) => boolean;
  /** The namespace entered the scope while this watcher ran. What the catalog still has of it is outdated. */
  readonly entering: boolean;
  readonly atStart: Pick<CatalogAtStart, 'keysOf'>;
}

/** Reads the catalog's rows of the objects that one stream shows. Rejects with ioredis' error. */
export class CatalogRows<ObjectKey extends string, Row> {
  readonly #side: CatalogSide<ObjectKey, Row>;
  readonly #reach: Reach<ObjectKey>;

  constructor(side: CatalogSide<ObjectKey, Row>, reach: Reach<ObjectKey>) {
    this.#side = side;
    this.#reach = reach;
  }

  async of(keys: readonly ObjectKey[]): Promise<ReadonlyMap<ObjectKey, Row>> {
    return this.#reach.entering ? new Map() : await this.#side.some(keys);
  }

  /** All rows except those of these keys. */
  async besides(shown: ReadonlySet<string>): Promise<Map<ObjectKey, Row>> {
    const rows = new Map<ObjectKey, Row>();
    for await (const portion of this.#portions((key) => !shown.has(key))) {
      for (const [key, row] of portion) rows.set(key, row);
    }
    return rows;
  }

  async *#portions(
    isWanted: (key: ObjectKey) => boolean,
  ): AsyncGenerator<Iterable<readonly [ObjectKey, Row]>, void, void> {
    const { scope, isWatched, entering, atStart } = this.#reach;
    if (entering) return;
    if (scope.namespace === '') {
      yield* this.#side.each((key) => isWatched(key) && isWanted(key));
      return;
    }
    const keys = ((await atStart.keysOf(scope)) as readonly string[] as readonly ObjectKey[]).filter(
      isWanted,
    );
    for (let at = 0; at < keys.length; at += KEYS_AT_A_TIME)
      yield await this.#side.some(keys.slice(at, at + KEYS_AT_A_TIME));
  }
}
