/** Tokens that are remembered; those least recently used are dropped. */
const MOST = 2_000;
/** Tokens of one user, so that no user displaces the tokens of others. */
const MOST_OF_USER = 20;

/** Tokens that were valid at the last check, by their hashes. */
export class RecognizedTokens {
  /** The user of each token, least recently used first. */
  readonly #users = new Map<string, string>();
  readonly #ofUser = new Map<string, Set<string>>();

  has(token: string): boolean {
    return this.#users.has(token);
  }

  get size(): number {
    return this.#users.size;
  }

  add(token: string, user: string): void {
    this.remove(token);
    this.#users.set(token, user);
    const own = this.#ofUser.get(user) ?? new Set();
    this.#ofUser.set(user, own.add(token));
    if (own.size > MOST_OF_USER) this.#removeFirst(own);
    if (this.#users.size > MOST) this.#removeFirst(this.#users.keys());
  }

  remove(token: string): void {
    const user = this.#users.get(token);
    if (user === undefined) return;
    this.#users.delete(token);
    const own = this.#ofUser.get(user);
    own?.delete(token);
    if (own?.size === 0) this.#ofUser.delete(user);
  }

  #removeFirst(tokens: Iterable<string>): void {
    const [first] = tokens;
    if (first !== undefined) this.remove(first);
  }
}
