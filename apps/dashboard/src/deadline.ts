/**
 * Aborts what takes too long, or what `outer` aborts. Made of timers and listeners, because Firefox 121 has no
 * `AbortSignal.any`.
 */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #milliseconds: number;
  readonly #outer: AbortSignal | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #since = 0;
  #isOver = false;

  constructor(milliseconds: number, outer?: AbortSignal) {
    this.#milliseconds = milliseconds;
    this.#outer = outer;
    if (outer?.aborted === true) this.#abort();
    outer?.addEventListener('abort', this.#abort);
    this.extend();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether it took too long; not if `outer` ended it. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Since when it has been waiting. */
  get since(): number {
    return this.#since;
  }

  /** The time begins anew. */
  extend(): void {
    clearTimeout(this.#timer);
    this.#since = Date.now();
    this.#timer = setTimeout(() => {
      this.#isOver = true;
      this.#abort();
    }, this.#milliseconds);
  }

  /** It is done. */
  end(): void {
    clearTimeout(this.#timer);
    this.#outer?.removeEventListener('abort', this.#abort);
  }

  readonly #abort = (): void => this.#controller.abort();
}
