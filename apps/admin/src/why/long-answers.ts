import type { Input } from '../http/operation-types.ts';
import { countedAs } from '../http/limits/counted-as.ts';
import { MostAtOnce } from '../http/limits/most-at-once.ts';
import { mustBeAwaited } from './in-turns.ts';
import { OneAtATime } from './one-at-a-time.ts';

/** Requests of one caller that wait for their turn. */
const MOST_WAITING = 50;

/** Makes the answers that take long, one at a time for each caller. */
export class LongAnswers {
  readonly #turns = new OneAtATime();
  /** One of them has its turn. */
  readonly #asked = new MostAtOnce(
    MOST_WAITING + 1,
    `expected at most ${MOST_WAITING} requests that explain to wait for one of the same caller`,
  );
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
    return await this.#asked.run(who, () =>
      this.#turns.run(who, async () => {
        mustBeAwaited(signal);
        return await make(signal);
      }),
    );
  }
}
