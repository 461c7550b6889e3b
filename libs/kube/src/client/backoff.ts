export interface BackoffOptions {
  /** Upper bound of the first delay. Default 250 ms. */
  readonly baseMs?: number;
  /** Upper bound of all delays. Default 30 s. */
  readonly maxMs?: number;
  /** Default `Math.random`. */
  readonly random?: () => number;
}

/**
 * Exponential back-off with equal jitter: the n-th delay lies between half and all of `base * 2^n`. So it is never zero, and
 * clients that failed together do not retry together.
 */
export class Backoff {
  readonly #baseMs: number;
  readonly #maxMs: number;
  readonly #random: () => number;
  #attempts = 0;

  constructor(options: BackoffOptions = {}) {
    this.#baseMs = options.baseMs ?? 250;
    this.#maxMs = options.maxMs ?? 30_000;
    this.#random = options.random ?? Math.random;
  }

  get attempts(): number {
    return this.#attempts;
  }

  /** Counts one failure and returns the delay before the next attempt. */
  next(): number {
    const ceiling = Math.min(this.#maxMs, this.#baseMs * 2 ** Math.min(this.#attempts, 30));
    this.#attempts += 1;
    return ceiling / 2 + (this.#random() * ceiling) / 2;
  }

  reset(): void {
    this.#attempts = 0;
  }
}
