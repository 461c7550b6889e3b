/**
 * A map from a key to a set of strings that is cheap if most sets have one member. With 100,000 sources of one user each, a `Set`
 * for each would be most of the index's memory.
 */
export class MultiMap<Member extends string = string> {
  readonly #entries = new Map<string, Member | Set<Member>>();

  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  /** Iterates the live map: includes keys that are added meanwhile, and skips keys that are deleted. */
  keys(): Iterable<string> {
    return this.#entries.keys();
  }

  add(key: string, value: Member): void {
    const held = this.#entries.get(key);
    if (held === undefined) this.#entries.set(key, value);
    else if (typeof held !== 'string') held.add(value);
    else if (held !== value) this.#entries.set(key, new Set([held, value]));
  }

  delete(key: string, value: Member): void {
    const held = this.#entries.get(key);
    if (held === value) this.#entries.delete(key);
    if (held === undefined || typeof held === 'string') return;
    held.delete(value);
    if (held.size === 0) this.#entries.delete(key);
  }

  has(key: string): boolean {
    return this.#entries.has(key);
  }

  includes(key: string, value: Member): boolean {
    const held = this.#entries.get(key);
    return typeof held === 'string' ? held === value : (held?.has(value) ?? false);
  }

  /** Iterates the live set: includes members that are added meanwhile, and skips members that are deleted. */
  *each(key: string): Generator<Member, void, void> {
    const held = this.#entries.get(key);
    if (typeof held === 'string') yield held;
    else if (held) yield* held;
  }

  /** Returns a copy, so that the caller may change the map while it iterates. */
  get(key: string): readonly Member[] {
    const held = this.#entries.get(key);
    if (held === undefined) return [];
    return typeof held === 'string' ? [held] : [...held];
  }
}
