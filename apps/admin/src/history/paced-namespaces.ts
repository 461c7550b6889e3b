import { visibility, type Caller } from '../auth/caller.ts';
import { NamespacesAsked } from './namespaces-asked.ts';

/** Milliseconds for which an answer is valid; at most `NamespacesAsked`'s number is asked in them. */
const TURN = 1_000;

interface PacedBy {
  readonly caller: Caller;
  /** Resolves after `ms` milliseconds, or when nothing waits any longer. */
  readonly pause: (ms: number) => Promise<void>;
  /** Default `performance.now`. */
  readonly now?: () => number;
}

/** Asks about namespaces for a stream, which must not leave anything out: it waits after too many questions. */
export class PacedNamespaces {
  readonly #caller: Caller;
  readonly #pause: PacedBy['pause'];
  readonly #now: () => number;
  #asked: NamespacesAsked | undefined;
  #began = 0;

  constructor({ caller, pause, now }: PacedBy) {
    this.#caller = caller;
    this.#pause = pause;
    this.#now = now ?? (() => performance.now());
  }

  async all(): Promise<boolean> {
    return (await this.#turn()).all;
  }

  async sees(namespace: string): Promise<boolean> {
    const answer = await (await this.#turn()).sees(namespace);
    if (answer !== undefined) return answer;
    await this.#pause(this.#began + TURN - this.#now());
    this.#asked = undefined;
    return (await (await this.#turn()).sees(namespace)) === true;
  }

  async #turn(): Promise<NamespacesAsked> {
    if (this.#asked && this.#now() - this.#began < TURN) return this.#asked;
    const asked = new NamespacesAsked(await visibility(this.#caller));
    this.#began = this.#now();
    this.#asked = asked;
    return asked;
  }
}
