import type { EventHandler, ShownBy } from './delivery.ts';

/** A store that receives complete lists. */
export interface WholeStore<Seen> {
  /** `unread`: keys of objects that exist but could not be read. If it rejects, the list is repeated. */
  replace(list: { rv: string; objects: readonly Seen[]; unread: ReadonlySet<string> }): void | Promise<void>;
  upsert(seen: Seen, by: ShownBy): void;
  delete(seen: Seen): void;
}

/** Collects each list and passes it on at its end, for small kinds that only make sense as a whole. */
export class WholeList<Seen extends { readonly key: string }> implements EventHandler<Seen> {
  readonly #kind: string;
  readonly #store: WholeStore<Seen>;
  /** The objects that the list under way has shown; null if there is no list. */
  #listing: Map<string, Seen> | null = null;

  constructor(kind: string, store: WholeStore<Seen>) {
    this.#kind = kind;
    this.#store = store;
  }

  replace(): void {
    this.#listing = new Map();
  }

  upsert(objects: readonly Seen[], by: ShownBy): void {
    for (const seen of objects) {
      if (this.#listing) this.#listing.set(seen.key, seen);
      else this.#store.upsert(seen, by);
    }
  }

  delete(seen: Seen): void {
    if (this.#listing) this.#listing.delete(seen.key);
    else this.#store.delete(seen);
  }

  async synced(rv: string, unread: readonly string[]): Promise<void> {
    const objects = [...(this.#listing ?? new Map<string, Seen>()).values()];
    const keys = new Set(unread.map((name) => `${this.#kind}/${name}`));
    await this.#store.replace({ rv, objects, unread: keys });
    this.#listing = null;
  }
}
