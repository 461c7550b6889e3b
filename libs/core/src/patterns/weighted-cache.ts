/**
 * Keeps what was asked for last, up to a total weight. What weighs more than all of it is never kept: whoever asks
 * pays for it each time, so a bound on what one value costs has to be elsewhere.
 */
export class WeightedCache<Value> {
  readonly #limit: number;
  readonly #weigh: (value: Value, key: string) => number;
  /** Least recently used first. */
  readonly #values = new Map<string, Value>();
  #weight = 0;

  constructor(limit: number, weigh: (value: Value, key: string) => number) {
    this.#limit = limit;
    this.#weigh = weigh;
  }

  get weight(): number {
    return this.#weight;
  }

  /** What is kept under the key, or what `make` gives. */
  get(key: string, make: (key: string) => Value): Value {
    const known = this.#values.get(key);
    if (known !== undefined) {
      this.#values.delete(key);
      this.#values.set(key, known);
      return known;
    }
    const made = make(key);
    this.#keep(key, made);
    return made;
  }

  #keep(key: string, value: Value): void {
    const weight = this.#weigh(value, key);
    if (weight > this.#limit) return;
    this.#values.set(key, value);
    this.#weight += weight;
    for (const [oldest, old] of this.#values) {
      if (this.#weight <= this.#limit) return;
      this.#values.delete(oldest);
      this.#weight -= this.#weigh(old, oldest);
    }
  }
}
