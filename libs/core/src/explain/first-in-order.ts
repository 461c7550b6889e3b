/** How many more than the wanted items are held before the last ones are dropped. */
const SPARE = 1_000;

/** The first of many items in an order. Holds hardly more than these, and counts all. */
export class FirstInOrder<Item> {
  #items: Item[] = [];
  #count = 0;
  readonly #most: number;
  readonly #order: (a: Item, b: Item) => number;

  constructor(most: number, order: (a: Item, b: Item) => number) {
    this.#most = most;
    this.#order = order;
  }

  /** Of all that were added. */
  get count(): number {
    return this.#count;
  }

  /** In memory. */
  get held(): number {
    return this.#items.length;
  }

  add(item: Item): void {
    this.#count += 1;
    this.#items.push(item);
    if (this.#items.length >= this.#most + SPARE) this.#items = this.items();
  }

  /** The first, in order. */
  items(): Item[] {
    return this.#items.toSorted(this.#order).slice(0, this.#most);
  }
}
