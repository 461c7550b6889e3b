import { visibility, type Caller } from '../auth/caller.ts';
import { NamespacesAsked } from './namespaces-asked.ts';

/** Milliseconds for which an answer holds, and in which no more than `NamespacesAsked` allows are asked for. */
const TURN = 1_000;

interface PacedBy {
  readonly caller: Caller;
  /** Resolves after so many milliseconds, or when nobody waits any more. */
  readonly pause: (ms: number) => Promise<void>;
  /** Default `performance.now`. */
  readonly now?: () => number;
}

/** Namespaces for a stream, which leaves nothing out: when too many were asked about, it waits for the next second. */
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
