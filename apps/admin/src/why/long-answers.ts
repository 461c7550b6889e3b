import type { Input } from '../http/operation-types.ts';
import { countedAs } from '../http/limits/counted-as.ts';
import { ProblemError } from '../http/problem-error.ts';
import { mustBeAwaited } from './in-turns.ts';
import { OneAtATime } from './one-at-a-time.ts';

/** Requests of one caller that wait for their turn. */
const MOST_WAITING = 50;

/** Makes the answers that take long, one at a time for each caller. */
export class LongAnswers {
  readonly #turns = new OneAtATime();
  readonly #asked = new Map<string, number>();
  readonly #timeout: number;

  /** `timeout`: milliseconds after which nothing waits for an answer. */
  constructor(timeout: number) {
    this.#timeout = timeout;
  }

  /**
   * `make` gets the signal for `inTurns`. Throws a `ProblemError`: `TooManyRequests` if too many of the caller's wait, `Unavailable` if
   * nothing waits for the answer when its turn comes.
   */
  async make<Answer>(
    { request, gone }: Pick<Input<'preview'>, 'request' | 'gone'>,
    make: (signal: AbortSignal) => Promise<Answer>,
  ): Promise<Answer> {
    const signal = AbortSignal.any([gone, AbortSignal.timeout(this.#timeout)]);
    const who = countedAs(request);
    const asked = this.#asked.get(who) ?? 0;
    if (asked > MOST_WAITING)
      throw new ProblemError('TooManyRequests', {
        detail: `expected at most ${MOST_WAITING} requests that explain to wait for one of the same caller`,
      });
    this.#asked.set(who, asked + 1);
    try {
      return await this.#turns.run(who, async () => {
        mustBeAwaited(signal);
        return await make(signal);
      });
    } finally {
      this.#left(who);
    }
  }

  #left(who: string): void {
    const asked = (this.#asked.get(who) ?? 1) - 1;
    if (asked > 0) this.#asked.set(who, asked);
    else this.#asked.delete(who);
  }
}
