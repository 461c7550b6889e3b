import type { Input } from '../http/operation-types.ts';
import { mustBeAwaited } from './in-turns.ts';
import { OneAtATime } from './one-at-a-time.ts';

/** Makes the answers that take long, one at a time for each caller. */
export class LongAnswers {
  readonly #turns = new OneAtATime();
  readonly #timeout: number;

  /** `timeout`: milliseconds after which nothing waits for an answer. */
  constructor(timeout: number) {
    this.#timeout = timeout;
  }

  /** `make` gets the signal for `inTurns`. Throws a `ProblemError` `Unavailable` if nothing waits for the answer when its turn comes. */
  async make<Answer>(
    { caller, gone }: Pick<Input<'preview'>, 'caller' | 'gone'>,
    make: (signal: AbortSignal) => Promise<Answer>,
  ): Promise<Answer> {
    const signal = AbortSignal.any([gone, AbortSignal.timeout(this.#timeout)]);
    return await this.#turns.run(caller.name, async () => {
      mustBeAwaited(signal);
      return await make(signal);
    });
  }
}
