/** How long to wait between attempts. */
export interface BackoffOptions {
  /** The first delay's upper bound. Default 250 ms. */
  readonly baseMs?: number;
  /** No delay is longer. Default 30 s. */
  readonly maxMs?: number;
  /** Default `Math.random`. */
  readonly random?: () => number;
}

/**
 * Exponential back-off with equal jitter: the n-th delay lies between a half and the whole of
 * `base * 2^n`, so that it never is zero and clients that failed together do not come back together.
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

  /** Failures in a row. */
  get attempts(): number {
    return this.#attempts;
  }

  /** The delay before the next attempt; counts one failure. */
  next(): number {
    const ceiling = Math.min(this.#maxMs, this.#baseMs * 2 ** Math.min(this.#attempts, 30));
    this.#attempts += 1;
    return ceiling / 2 + (this.#random() * ceiling) / 2;
  }

  reset(): void {
    this.#attempts = 0;
  }
}
