import type { ReflectorHandler } from '@reroll/shared/kube/delivery';

/** How many rows of the catalog are looked up at once. */
const ROWS_AT_ONCE = 500;

export interface CompleteList<Seen, Row> {
  readonly rv: string;
  readonly objects: readonly Seen[];
  readonly unread: readonly string[];
  /** The catalog's rows, at the first list only: after that the ledger knows better. */
  readonly catalog: ReadonlyMap<string, Row>;
}

/** Where one stream leads: the side of the ledger and of the catalog that it fills. */
export interface Feed<Seen, Row> {
  listBegins(): void;
  /** Rows of the catalog by key. */
  rows(keys: readonly string[]): Promise<ReadonlyMap<string, Row>>;
  /** Every row of the catalog that is in this stream's reach and wanted. */
  everyRow(isWanted: (key: string) => boolean): AsyncIterable<readonly (readonly [string, Row])[]>;
  listed(list: CompleteList<Seen, Row>): void;
  written(seen: Seen): void;
  deleted(seen: Seen): void;
  /** Called after anything was told to the ledger. */
  told(type: 'list' | 'ADDED' | 'MODIFIED' | 'DELETED', objects: number): void;
}

/**
 * Turns what a reflector tells into what the ledger takes: a list is gathered and told as a whole, with the
 * rows that the catalog has of it. If the catalog cannot be read, the list fails and is repeated: no error is
 * read as an empty catalog.
 */
export class ListFiller<Seen extends { readonly key: string }, Row> implements ReflectorHandler<Seen> {
  readonly #feed: Feed<Seen, Row>;
  readonly #keyOf: (namespacedName: string) => string;
  #listing: Map<string, Seen> | null = null;
  #first = true;

  /** `keyOf` makes a key of the `<namespace>/<name>` by which unreadable objects are told. */
  constructor(feed: Feed<Seen, Row>, keyOf: (namespacedName: string) => string) {
    this.#feed = feed;
    this.#keyOf = keyOf;
  }

  listStarted(): void {
    this.#listing = new Map();
    this.#feed.listBegins();
  }

  listed(objects: readonly Seen[]): void {
    for (const seen of objects) this.#listing?.set(seen.key, seen);
  }

  async listEnded(rv: string, unread: readonly string[]): Promise<void> {
    const listing = this.#listing ?? new Map<string, Seen>();
    const catalog = this.#first ? await this.#catalogOf(listing) : new Map<string, Row>();
    const keys = unread.map(this.#keyOf);
    this.#feed.listed({ rv, objects: [...listing.values()], unread: keys, catalog });
    this.#first = false;
    this.#listing = null;
    this.#feed.told('list', listing.size);
  }

  changed(seen: Seen, type: 'ADDED' | 'MODIFIED' | 'DELETED'): void {
    if (this.#listing) {
      if (type === 'DELETED') this.#listing.delete(seen.key);
      else this.#listing.set(seen.key, seen);
      return;
    }
    if (type === 'DELETED') this.#feed.deleted(seen);
    else this.#feed.written(seen);
    this.#feed.told(type, 1);
  }

  async #catalogOf(listing: ReadonlyMap<string, Seen>): Promise<Map<string, Row>> {
    const found = new Map<string, Row>();
    const keys = [...listing.keys()];
    for (let at = 0; at < keys.length; at += ROWS_AT_ONCE) {
      for (const [key, row] of await this.#feed.rows(keys.slice(at, at + ROWS_AT_ONCE))) found.set(key, row);
    }
    for await (const portion of this.#feed.everyRow((key) => !listing.has(key))) {
      for (const [key, row] of portion) found.set(key, row);
    }
    return found;
  }
}
