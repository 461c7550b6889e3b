import type { ReflectorHandler } from '@reroll/kube/reflector/delivery';

/** Objects of a list and what the catalog has of them. */
export interface Found<Seen, Row> {
  readonly objects: readonly Seen[];
  /** The catalog's rows, at the first list only: after that the cluster state knows better. */
  readonly catalog: ReadonlyMap<string, Row>;
}

/** The end of a list: `catalog` holds what the list did not show. */
export interface ListEnd<Seen, Row> extends Found<Seen, Row> {
  readonly rv: string;
  /** Keys told before as found. */
  readonly found: ReadonlySet<string>;
  readonly unread: readonly string[];
}

/** Where one stream leads: the side of the cluster state and of the catalog that it fills. */
export interface Feed<Seen, Row> {
  listBegins(): void;
  /** Rows of the catalog by key. */
  rows(keys: readonly string[]): Promise<ReadonlyMap<string, Row>>;
  /** Every row of the catalog that is in this stream's reach and wanted. */
  everyRow(isWanted: (key: string) => boolean): AsyncIterable<readonly (readonly [string, Row])[]>;
  found(portion: Found<Seen, Row>): void | Promise<void>;
  listed(list: ListEnd<Seen, Row>): void | Promise<void>;
  written(seen: Seen): void;
  deleted(seen: Seen): void | Promise<void>;
  /** Called after anything was told to the cluster state. */
  told(type: 'list' | 'ADDED' | 'MODIFIED' | 'DELETED', objects: number): void;
}

/**
 * Turns what a reflector tells into what the cluster state takes. A list is told as it comes, so that it is never
 * held whole, with the rows that the catalog has of it; what is gone is told at its end. If the catalog cannot
 * be read, the list fails and is repeated: no error is read as an empty catalog.
 */
export class ListFiller<Seen extends { readonly key: string }, Row> implements ReflectorHandler<Seen> {
  readonly #feed: Feed<Seen, Row>;
  readonly #keyOf: (namespacedName: string) => string;
  /** Keys that the list under way has shown; null: there is none. */
  #found: Set<string> | null = null;
  /** Why the list under way cannot succeed. */
  #failure: { readonly error: unknown } | null = null;
  #first = true;

  /** `keyOf` makes a key of the `<namespace>/<name>` by which unreadable objects are told. */
  constructor(feed: Feed<Seen, Row>, keyOf: (namespacedName: string) => string) {
    this.#feed = feed;
    this.#keyOf = keyOf;
  }

  listStarted(): void {
    this.#found = new Set();
    this.#failure = null;
    this.#feed.listBegins();
  }

  async listed(objects: readonly Seen[]): Promise<void> {
    const catalog = await this.#rowsOf(objects);
    if (catalog === null) return;
    await this.#feed.found({ objects, catalog });
    for (const { key } of objects) this.#found?.add(key);
    this.#feed.told('list', objects.length);
  }

  async listEnded(rv: string, unread: readonly string[]): Promise<void> {
    if (this.#failure) throw this.#failure.error;
    const found = this.#found ?? new Set<string>();
    const catalog = this.#first ? await this.#rowsBesides(found) : new Map<string, Row>();
    await this.#feed.listed({ rv, objects: [], found, unread: unread.map(this.#keyOf), catalog });
    this.#first = false;
    this.#found = null;
    this.#feed.told('list', 0);
  }

  changed(seen: Seen, type: 'ADDED' | 'MODIFIED' | 'DELETED'): void | Promise<void> {
    if (this.#found && type === 'DELETED') {
      // The end of the list tells that it is gone.
      this.#found.delete(seen.key);
      return;
    }
    const pending = type === 'DELETED' ? this.#feed.deleted(seen) : this.#feed.written(seen);
    if (pending === undefined) return this.#feed.told(type, 1);
    return pending.then(() => this.#feed.told(type, 1));
  }

  /**
   * Null if the catalog cannot be read. That is kept for the list's end and not thrown: a throw would make
   * these objects unreadable ones.
   */
  async #rowsOf(objects: readonly Seen[]): Promise<ReadonlyMap<string, Row> | null> {
    if (this.#failure) return null;
    if (!this.#first) return new Map();
    try {
      return await this.#feed.rows(objects.map(({ key }) => key));
    } catch (error) {
      this.#failure = { error };
      return null;
    }
  }

  async #rowsBesides(found: ReadonlySet<string>): Promise<Map<string, Row>> {
    const rows = new Map<string, Row>();
    for await (const portion of this.#feed.everyRow((key) => !found.has(key))) {
      for (const [key, row] of portion) rows.set(key, row);
    }
    return rows;
  }
}
