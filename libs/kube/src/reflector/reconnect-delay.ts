import { Backoff, type BackoffOptions } from '../client/backoff.ts';

/** No longer than this after an outage of the API server, however long it lasted. */
const MAX_MS = 10_000;

/** The delay before a reflector's next attempt, and how many attempts in a row failed like the last one. */
export interface NextAttempt {
  readonly attempt: number;
  readonly delayMs: number;
}

/**
 * How long a reflector waits before it connects again. A 410 is an answer of a server that works, as a rule
 * the first one after an outage: it ends the back-off of the failures before it. Answers of 410 have a
 * back-off of their own, so that a server that gives no other is asked ever more slowly.
 */
export class ReconnectDelay {
  readonly #failures: Backoff;
  readonly #gone: Backoff;

  constructor(options: BackoffOptions = {}) {
    this.#failures = new Backoff({ maxMs: MAX_MS, ...options });
    this.#gone = new Backoff({ maxMs: MAX_MS, ...options });
  }

  /** After a 410 (`gone`), or after any other failure. */
  next({ gone }: { gone: boolean }): NextAttempt {
    if (gone) this.#failures.reset();
    const backoff = gone ? this.#gone : this.#failures;
    const delayMs = backoff.next();
    return { attempt: backoff.attempts, delayMs };
  }

  /** The connection was a healthy one: the next failure of either sort is a first one. */
  reset(): void {
    this.#failures.reset();
    this.#gone.reset();
  }
}
