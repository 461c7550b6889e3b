import { ProblemError } from '../problem-error.ts';

/** Refuses tasks beyond one of a caller, and beyond a number of all callers together, at a time. */
export class FewAtATime {
  readonly #most: number;
  readonly #running = new Set<string>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Rejects with a `ProblemError` `TooManyRequests`, or the task's error. */
  async run<Result>(caller: string, task: () => Promise<Result>): Promise<Result> {
    if (this.#running.has(caller)) throw busy('your last request of this kind is still under way');
    if (this.#running.size >= this.#most) throw busy(`${this.#most} requests of this kind are under way`);
    this.#running.add(caller);
    try {
      return await task();
    } finally {
      this.#running.delete(caller);
    }
  }
}

function busy(detail: string): ProblemError {
  return new ProblemError('TooManyRequests', { detail });
}
