import { auditShareOf } from '@reroll/core/history/audit-share';
import { ProblemError } from '../problem-error.ts';

const UNDER_WAY =
  'your last request of this kind, or that of another service account of your namespace, is still under way';

/**
 * Refuses tasks beyond one of a caller, or of all service accounts of a namespace, and beyond a number of all callers together, at a
 * time.
 */
export class FewAtATime {
  readonly #most: number;
  /** The shares of callers whose task is under way. */
  readonly #running = new Set<string>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Rejects with a `ProblemError` `TooManyRequests`, or the task's error. */
  async run<Result>(caller: string, task: () => Promise<Result>): Promise<Result> {
    const share = auditShareOf(caller);
    if (this.#running.has(share)) throw busy(UNDER_WAY);
    if (this.#running.size >= this.#most) throw busy(`${this.#most} requests of this kind are under way`);
    this.#running.add(share);
    try {
      return await task();
    } finally {
      this.#running.delete(share);
    }
  }
}

function busy(detail: string): ProblemError {
  return new ProblemError('TooManyRequests', { detail });
}
