import type { SourceKey } from '@reroll/core/model';
import { quietOf } from './quiet.ts';

interface LastJob {
  /** When it is due. */
  readonly due: number;
  /** When the first job of its burst was due. */
  readonly began: number;
}

/**
 * When the next change job of a source may run. The first of a burst runs at once. During a debounce from there, jobs are half a quiet
 * period apart, so that each puts off the reload jobs of the one before; afterwards a debounce. A debounce without a job ends
 * the burst. Kept in the memory of the leader, which enqueues the jobs; a new leader starts anew. Holds the sources of one debounce.
 */
export class ChangeDebounce {
  readonly #debounce: number;
  readonly #pace: number;
  /** The last job of each source, in the order in which these were set. */
  readonly #last = new Map<SourceKey, LastJob>();

  /** `debounce`: milliseconds; 0 for none. */
  constructor(debounce: number) {
    this.#debounce = debounce;
    this.#pace = Math.ceil(quietOf(debounce) / 2);
  }

  get size(): number {
    return this.#last.size;
  }

  /** Returns the delay in milliseconds of a job that is enqueued now. */
  delayOf(source: SourceKey, now: number): number {
    return this.#next(source, now).due - now;
  }

  /** Notes that jobs were enqueued, with the same `now` as in `delayOf`. */
  enqueued(sources: readonly SourceKey[], now: number): void {
    if (this.#debounce === 0) return;
    for (const source of sources) {
      const next = this.#next(source, now);
      this.#last.delete(source);
      this.#last.set(source, next);
    }
    for (const [source, last] of this.#last) {
      if (!this.#isOver(last, now)) break;
      this.#last.delete(source);
    }
  }

  /** A job that is not due yet covers the change too. A clock that was set back delays nothing. */
  #next(source: SourceKey, now: number): LastJob {
    const last = this.#last.get(source);
    if (!last || this.#isOver(last, now) || last.due > now + this.#debounce) return { due: now, began: now };
    if (last.due > now) return last;
    const pause = last.due - last.began < this.#debounce ? this.#pace : this.#debounce;
    return { due: Math.max(now, last.due + pause), began: last.began };
  }

  #isOver({ due }: LastJob, now: number): boolean {
    return due + this.#debounce <= now;
  }
}
