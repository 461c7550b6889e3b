import type { SourceKey } from '@reroll/core/model';

/**
 * When the next change job of a source may run: the first at once, each other not before the debounce after the last.
 * In the memory of the process that enqueues them, which is the leader; another leader begins anew. Holds the sources
 * of one debounce.
 */
export class ChangeDebounce {
  readonly #debounce: number;
  /** When the last job of a source is due, in the order in which that was set. */
  readonly #due = new Map<SourceKey, number>();

  /** `debounce`: milliseconds; 0: none. */
  constructor(debounce: number) {
    this.#debounce = debounce;
  }

  /** Sources that are remembered. */
  get size(): number {
    return this.#due.size;
  }

  /** Milliseconds that a job enqueued now waits. */
  delayOf(source: SourceKey, now: number): number {
    return this.#dueAt(source, now) - now;
  }

  /** These were enqueued, at the same `now` as `delayOf` was told. */
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

  /** A job that is not due yet takes the change with it; a clock that was set back holds nothing up. */
  #dueAt(source: SourceKey, now: number): number {
    const last = this.#due.get(source);
    if (last === undefined || last > now + this.#debounce) return now;
    return last > now ? last : Math.max(now, last + this.#debounce);
  }
}
