import type { Listed, Scope } from '@reroll/core/state/listed';
import { isNewer, maxRv, RV_UNKNOWN, type Rv } from '@reroll/core/rv';
import type { CatalogRows } from './catalog-rows.ts';

/** Objects of one list that are checked at most: each check takes a request. */
const CHECKS_PER_LIST = 10;

interface Row {
  readonly rv: Rv;
  /** Only sources have it. */
  readonly exists?: boolean;
}

export interface ListingContext<ObjectKey extends string, R extends Row> {
  readonly scope: Scope;
  readonly catalog: Pick<CatalogRows<ObjectKey, R>, 'of' | 'besides'>;
  /** The row of an object in the cluster state. */
  readonly held: (key: ObjectKey) => Row | undefined;
  /** Called for an object that a list shows as older than it was known; the list waits. Never rejects. */
  readonly check: (key: ObjectKey, seenBefore: Rv) => Promise<void>;
}

/** What the cluster state receives at the end of a list. */
export interface ListEnd<ObjectKey extends string, R> extends Listed<never, R> {
  readonly catalog: ReadonlyMap<ObjectKey, R>;
  readonly found: ReadonlySet<string>;
}

/**
 * One stream's list while it is under way: the objects shown so far, and their rows in the catalog. The catalog is
 * read only for the stream's first list, because after that the cluster state is newer. If the catalog cannot be
 * read, the list fails and is repeated, so an error never looks like an empty catalog.
 */
export class Listing<ObjectKey extends string, R extends Row> {
  readonly #context: ListingContext<ObjectKey, R>;
  /** Keys that the list under way has shown; null if there is no list. */
  #found: Set<string> | null = null;
  /** Why the list under way will fail. */
  #failure: { readonly error: unknown } | null = null;
  #isFirst = true;
  #checks = 0;

  constructor(context: ListingContext<ObjectKey, R>) {
    this.#context = context;
  }

  begin(): void {
    this.#found = new Set();
    this.#failure = null;
    this.#checks = 0;
  }

  /**
   * The catalog's rows of objects that the list shows; null if the catalog cannot be read. The error is kept for
   * `end`: if it were thrown here, these objects would count as unreadable.
   */
  async rowsOf(
    objects: readonly { readonly key: ObjectKey; readonly rv: Rv }[],
  ): Promise<ReadonlyMap<ObjectKey, R> | null> {
    const rows = await this.#read(objects.map(({ key }) => key));
    if (!rows) return null;
    for (const { key, rv } of objects) {
      const known = maxRv(writtenRv(this.#context.held(key)), writtenRv(rows.get(key)));
      if (isNewer(known, rv)) await this.#check(key, known);
    }
    return rows;
  }

  /** Adds objects that the cluster state has received. */
  found(objects: readonly { readonly key: string }[]): void {
    for (const { key } of objects) this.#found?.add(key);
  }

  /** Removes a deleted object. True if a list is under way, whose end will report the deletion. */
  drop(key: string): boolean {
    this.#found?.delete(key);
    return this.#found !== null;
  }

  /** What the cluster state must receive at the end of the list. Rejects if the catalog cannot be read. */
  async end(rv: Rv, unread: readonly string[]): Promise<ListEnd<ObjectKey, R>> {
    if (this.#failure) throw this.#failure.error;
    const { scope } = this.#context;
    const found = this.#found ?? new Set();
    const catalog = this.#isFirst ? await this.#context.catalog.besides(found) : new Map<ObjectKey, R>();
    for (const [key, row] of catalog) if (isNewer(writtenRv(row), rv)) await this.#check(key, writtenRv(row));
    return { scope, rv, objects: [], found, unread: unread.map((name) => `${scope.kind}/${name}`), catalog };
  }

  /** Call this once the cluster state has received the end of the list. */
  ended(): void {
    this.#isFirst = false;
    this.#found = null;
  }

  async #read(keys: readonly ObjectKey[]): Promise<ReadonlyMap<ObjectKey, R> | null> {
    if (this.#failure) return null;
    if (!this.#isFirst) return new Map();
    try {
      return await this.#context.catalog.of(keys);
    } catch (error) {
      this.#failure = { error };
      return null;
    }
  }

  async #check(key: ObjectKey, known: Rv): Promise<void> {
    if (this.#checks >= CHECKS_PER_LIST) return;
    this.#checks += 1;
    await this.#context.check(key, known);
  }
}

/**
 * The resourceVersion of the object's own last write. The row of a deleted source may hold that of the list which no
 * longer showed it, and the source may appear again with its older one: a Secret whose type is no longer ignored.
 */
function writtenRv(row: Row | undefined): Rv {
  return row === undefined || row.exists === false ? RV_UNKNOWN : row.rv;
}
