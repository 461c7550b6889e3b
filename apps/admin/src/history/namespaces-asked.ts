import { visibility, type Caller, type Visibility } from '../auth/caller.ts';

/**
 * Asks about the namespaces of one answer, each once. After the maximum the page ends and the caller gets the rest with
 * the next page, so that a request causes a bounded number of questions to the API server.
 */
const MOST_NAMESPACES = 100;

export class NamespacesAsked {
  readonly #visibility: Visibility;
  readonly #answers = new Map<string, boolean>();

  constructor(visibility: Visibility) {
    this.#visibility = visibility;
  }

  get all(): boolean {
    return this.#visibility.all;
  }

  static async of(caller: Caller): Promise<NamespacesAsked> {
    return new NamespacesAsked(await visibility(caller));
  }

  /** Undefined if too many namespaces were asked about. */
  async sees(namespace: string): Promise<boolean | undefined> {
    if (this.#visibility.all) return true;
    const known = this.#answers.get(namespace);
    if (known !== undefined) return known;
    if (this.#answers.size >= MOST_NAMESPACES) return undefined;
    const answer = await this.#visibility.sees(namespace);
    this.#answers.set(namespace, answer);
    return answer;
  }
}
