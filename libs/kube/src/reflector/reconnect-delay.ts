import { Backoff, type BackoffOptions } from '../client/backoff.ts';

/** The longest delay after an outage of the API server, however long it lasted. */
const MAX_MS = 10_000;

/** The delay before a reflector's next attempt, and how many consecutive attempts failed in the same way. */
export interface NextAttempt {
  readonly attempt: number;
  readonly delayMs: number;
}

/**
 * The delays between a reflector's connections. A 410 comes from a working server, usually as its first answer after an outage, so
 * it resets the back-off of other failures. 410s have their own back-off, so that a server that answers nothing else is asked less
 * and less often.
 */
export class ReconnectDelay {
  readonly #failures: Backoff;
  readonly #gone: Backoff;

  constructor(options: BackoffOptions = {}) {
    this.#failures = new Backoff({ maxMs: MAX_MS, ...options });
    this.#gone = new Backoff({ maxMs: MAX_MS, ...options });
  }

  /** Returns the delay after a 410 (`gone`) or another failure. */
  next({ gone }: { gone: boolean }): NextAttempt {
    if (gone) this.#failures.reset();
    const backoff = gone ? this.#gone : this.#failures;
    const delayMs = backoff.next();
    return { attempt: backoff.attempts, delayMs };
  }

  /** Resets both back-offs after a healthy connection. */
  reset(): void {
    this.#failures.reset();
    this.#gone.reset();
  }
}
