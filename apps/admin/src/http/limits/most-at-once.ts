import { ProblemError } from '../problem-error.ts';

/** Refuses tasks of a caller beyond a number at a time. */
export class MostAtOnce {
  readonly #most: number;
  readonly #expected: string;
  readonly #running = new Map<string, number>();

  /** `expected`: what the refusal says. */
  constructor(most: number, expected: string) {
    this.#most = most;
    this.#expected = expected;
  }

  /** Rejects with a `ProblemError` `TooManyRequests`, or the task's error. */
  async run<Result>(caller: string, task: () => Promise<Result>): Promise<Result> {
    const running = this.#running.get(caller) ?? 0;
    if (running >= this.#most) throw new ProblemError('TooManyRequests', { detail: this.#expected });
    this.#running.set(caller, running + 1);
    try {
      return await task();
    } finally {
      const left = (this.#running.get(caller) ?? 1) - 1;
      if (left > 0) this.#running.set(caller, left);
      else this.#running.delete(caller);
    }
  }
}
