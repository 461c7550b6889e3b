import { letterAt } from './objects.ts';
import { hasLabel } from './scope.ts';
import { keyOf } from './shapes.ts';
import type { Commit } from './commit.ts';

/**
 * The changes of sources without the labels of the watched ones. Nobody knows when they were made: once the labels are back, a workload
 * may be reloaded for one that its pods were started with.
 */
export class UnseenChanges {
  /** When each source without the labels was changed last, in virtual milliseconds. */
  readonly #at = new Map<string, number>();

  /** Returns when the source was changed unseen, if this write brings the labels back; `Infinity` otherwise. */
  see({ before, after }: Commit, now: number): number {
    if (!after) return Infinity;
    const key = keyOf(after);
    const at = this.#at.get(key) ?? Infinity;
    if (hasLabel(after)) this.#at.delete(key);
    else if (letterAt(before) !== letterAt(after)) this.#at.set(key, now);
    return hasLabel(after) ? at : Infinity;
  }
}
