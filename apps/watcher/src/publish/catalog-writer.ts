import type { Catalog, Publication, Published } from '@reroll/redis/catalog/catalog';

/** Rows of one write. */
export type Rows = Pick<Publication, 'sources' | 'workloads'>;

/**
 * A leader's writes to the catalog: a chain, each with the sequence number of the one before it. A write whose reply
 * was lost is sent again exactly as it was, before any other: the script recognizes it by its number, so a number
 * never stands for two different writes.
 */
export class CatalogWriter {
  readonly #catalog: Pick<Catalog, 'publish' | 'isLastWriter'>;
  #term = '';
  /** Of the last write that was sent. */
  #sequence = 0;
  /** The next write does not say which one was before it: there is none, or Redis has lost it. */
  #begins = true;
  #unanswered: Publication | null = null;

  constructor(catalog: Pick<Catalog, 'publish' | 'isLastWriter'>) {
    this.#catalog = catalog;
  }

  /** Begins the chain of a new term. */
  begin(term: string): void {
    this.#term = term;
    this.#sequence = 0;
    this.#begins = true;
    this.#unanswered = null;
  }

  /** The rows of a write of which nobody knows yet whether it was done: `write` sends those, whatever it is given. */
  get unanswered(): Rows | null {
    return this.#unanswered;
  }

  /**
   * Writes rows, or asks again for the answer to the last write. After a gap the rows are not written, and the next
   * write begins a new chain. Rejects with ioredis' error; then the rows are kept, as `unanswered`.
   */
  async write(rows: Rows): Promise<Published> {
    const { sources, workloads } = rows;
    this.#unanswered ??= {
      writer: { term: this.#term, sequence: this.#sequence },
      begins: this.#begins,
      sources,
      workloads,
    };
    const result = await this.#catalog.publish(this.#unanswered);
    this.#unanswered = null;
    this.#sequence += 1;
    this.#begins = !result.refused && result.gap;
    return result;
  }

  /** Whether the catalog still is what was written. Before the first write of a chain nothing there is this leader's. */
  async isIntact(): Promise<boolean> {
    if (this.#begins) return true;
    return await this.#catalog.isLastWriter({ term: this.#term, sequence: this.#sequence });
  }

  /** The next write begins a new chain: what was written before is not there any more. */
  beginAnew(): void {
    this.#begins = true;
  }

  /** Whether a write of this term was answered, so that no earlier leader can write any more. */
  get isFenced(): boolean {
    return !this.#begins;
  }
}
