import type { SourceKey } from '@reroll/core/model';

/**
 * When the next change job of a source may run: the first at once, each other at least the debounce after the last. Kept in the
 * memory of the leader, which enqueues them; a new leader starts anew. Holds the sources of one debounce.
 */
export class ChangeDebounce {
  readonly #debounce: number;
  /** When the last job of each source is due, in the order in which these times were set. */
  readonly #due = new Map<SourceKey, number>();

  /** `debounce`: milliseconds; 0 for none. */
  constructor(debounce: number) {
    this.#debounce = debounce;
  }

  get size(): number {
    return this.#due.size;
  }

  /** Returns the delay in milliseconds of a job that is enqueued now. */
  delayOf(source: SourceKey, now: number): number {
    return this.#dueAt(source, now) - now;
  }

  /** Notes that jobs were enqueued, with the same `now` as in `delayOf`. */
  enqueued(sources: readonly SourceKey[], now: number): void {
    if (this.#debounce === 0) return;
    for (const source of sources) {
      const due = this.#dueAt(source, now);
      this.#due.delete(source);
      this.#due.set(source, due);
    }
    for (const [source, due] of this.#due) {
      if (due + this.#debounce > now) break;
      this.#due.delete(source);
    }
  }

  /** A job that is not due yet covers the change too. A clock that was set back delays nothing. */
  #dueAt(source: SourceKey, now: number): number {
    const last = this.#due.get(source);
    if (last === undefined || last > now + this.#debounce) return now;
    return last > now ? last : Math.max(now, last + this.#debounce);
  }
}
