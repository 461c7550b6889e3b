import type { Catalog, Publication, Published } from '@reroll/redis/catalog/catalog';

/** Rows of one write. */
export type Rows = Pick<Publication, 'sources' | 'workloads'>;

/**
 * Writes a leader's rows to the catalog. The writes form a chain: each names the sequence number of the one before
 * it. A write whose reply was lost is sent again unchanged before any other. The script recognizes it by its number,
 * so a number never stands for two different writes.
 */
export class CatalogWriter {
  readonly #catalog: Pick<Catalog, 'publish' | 'isLastWriter'>;
  #term = '';
  /** The number of the last write that was answered. */
  #sequence = 0;
  /** The next write begins a chain: this leader has not written yet, or Redis lost its writes. */
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

  /** The rows of a write whose reply was lost. `write` sends these again, whatever rows it is given. */
  get unanswered(): Rows | null {
    return this.#unanswered;
  }

  /**
   * Writes the rows, or sends the unanswered write again. If Redis reports a gap, it has not written the rows, and
   * the next write begins a new chain. Rejects with ioredis' error; the rows then stay in `unanswered`.
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

  /** Whether this leader's last write is still the last one in the catalog. True before the first write of a chain. */
  async isIntact(): Promise<boolean> {
    if (this.#begins) return true;
    return await this.#catalog.isLastWriter({ term: this.#term, sequence: this.#sequence });
  }

  /** Makes the next write begin a new chain, because what was written before is gone. */
  beginAnew(): void {
    this.#begins = true;
  }

  /** Whether a write of this term was answered. After that, an earlier leader can no longer write. */
  get isFenced(): boolean {
    return !this.#begins;
  }
}
