import type { Listed, Scope } from '@reroll/core/state/listed';
import { isNewer, maxRv, RV_UNKNOWN, type Rv } from '@reroll/core/rv';
import type { CatalogRows } from './catalog-rows.ts';

/** So many objects of one list are looked at: each takes a request. */
const CHECKS_PER_LIST = 10;

interface Row {
  readonly rv: Rv;
  /** Of sources. */
  readonly exists?: boolean;
}

export interface ListingContext<ObjectKey extends string, R extends Row> {
  readonly scope: Scope;
  readonly catalog: Pick<CatalogRows<ObjectKey, R>, 'of' | 'besides'>;
  /** What the cluster state has of an object. */
  readonly held: (key: ObjectKey) => Row | undefined;
  /** Called for an object of a list that is older than what is known of it; the list waits. Never rejects. */
  readonly check: (key: ObjectKey, seenBefore: Rv) => Promise<void>;
}

/** What is to be told at the end of a list. */
export interface ListEnd<ObjectKey extends string, R> extends Listed<never, R> {
  readonly catalog: ReadonlyMap<ObjectKey, R>;
  readonly found: ReadonlySet<string>;
}

/**
 * The list of one stream, while there is one: what it has shown so far, and what the catalog has of that. The catalog is
 * read at the stream's first list only: after that the cluster state knows better. If it cannot be read, the list
 * fails and is repeated: no error is read as an empty catalog.
 */
export class Listing<ObjectKey extends string, R extends Row> {
  readonly #context: ListingContext<ObjectKey, R>;
  /** Keys that the list under way has shown; null: there is none. */
  #found: Set<string> | null = null;
  /** Why the list under way cannot succeed. */
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
   * The catalog's rows of objects that the list shows. Null if the catalog cannot be read. That is kept for the list's
   * end and not thrown: a throw would make these objects unreadable ones.
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

  /** The cluster state was told of these. */
  found(objects: readonly { readonly key: string }[]): void {
    for (const { key } of objects) this.#found?.add(key);
  }

  /** True if a list is under way: its end will tell that the object is gone. */
  drop(key: string): boolean {
    this.#found?.delete(key);
    return this.#found !== null;
  }

  /** What is to be told at the end of the list, with what the catalog has besides. Rejects if the catalog cannot be read. */
  async end(rv: Rv, unread: readonly string[]): Promise<ListEnd<ObjectKey, R>> {
    if (this.#failure) throw this.#failure.error;
    const { scope } = this.#context;
    const found = this.#found ?? new Set();
    const catalog = this.#isFirst ? await this.#context.catalog.besides(found) : new Map<ObjectKey, R>();
    for (const [key, row] of catalog) if (isNewer(writtenRv(row), rv)) await this.#check(key, writtenRv(row));
    return { scope, rv, objects: [], found, unread: unread.map((name) => `${scope.kind}/${name}`), catalog };
  }

  /** That was told. */
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
 * That of the object's own last write. A source that is gone has perhaps that of the list which did not show it: it may
 * be shown again with its old one, as a Secret of a type that is not ignored any more.
 */
function writtenRv(row: Row | undefined): Rv {
  return row === undefined || row.exists === false ? RV_UNKNOWN : row.rv;
}
