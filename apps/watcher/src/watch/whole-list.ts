import type { ReflectorHandler } from '@reroll/kube/reflector/delivery';

export interface WholeListFeed<Seen> {
  readonly kind: string;
  /** A complete list; `unread` are keys of objects that exist but could not be read. May reject: it is repeated. */
  listed(list: { rv: string; objects: readonly Seen[]; unread: ReadonlySet<string> }): Promise<void>;
  written(seen: Seen): void;
  deleted(seen: Seen): void;
  /** Called after anything was told. */
  told(type: 'list' | 'ADDED' | 'MODIFIED' | 'DELETED'): void;
}

/** For small kinds that mean something only as a whole: gathers each list and tells it at its end. */
export class WholeList<Seen extends { readonly key: string }> implements ReflectorHandler<Seen> {
  readonly #feed: WholeListFeed<Seen>;
  /** What the list under way has shown; null: there is none. */
  #listing: Map<string, Seen> | null = null;

  constructor(feed: WholeListFeed<Seen>) {
    this.#feed = feed;
  }

  listStarted(): void {
    this.#listing = new Map();
  }

  listed(objects: readonly Seen[]): void {
    for (const seen of objects) this.#listing?.set(seen.key, seen);
  }

  async listEnded(rv: string, unread: readonly string[]): Promise<void> {
    const objects = [...(this.#listing ?? new Map<string, Seen>()).values()];
    const keys = new Set(unread.map((name) => `${this.#feed.kind}/${name}`));
    await this.#feed.listed({ rv, objects, unread: keys });
    this.#listing = null;
    this.#feed.told('list');
  }

  changed(seen: Seen, type: 'ADDED' | 'MODIFIED' | 'DELETED'): void {
    if (this.#listing) {
      if (type === 'DELETED') this.#listing.delete(seen.key);
      else this.#listing.set(seen.key, seen);
      return;
    }
    if (type === 'DELETED') this.#feed.deleted(seen);
    else this.#feed.written(seen);
    this.#feed.told(type);
  }
}
