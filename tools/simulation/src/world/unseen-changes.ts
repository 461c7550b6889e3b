import { letterAt } from './objects.ts';
import { hasLabel } from './scope.ts';
import { keyOf } from './shapes.ts';
import type { Commit } from './truth.ts';

/**
 * The changes of sources without the labels of the watched ones. Nobody knows when they were made: once the labels are back, a workload
 * may be reloaded for one that its pods were started with.
 */
export class UnseenChanges {
  /** When each source was changed last, in virtual milliseconds. */
  readonly #at = new Map<string, number>();

  see({ before, after }: Commit, now: number): void {
    if (!after || hasLabel(after)) return;
    if (letterAt(before) !== letterAt(after)) this.#at.set(keyOf(after), now);
    else if (before && hasLabel(before)) this.#at.delete(keyOf(after));
  }

  /** Whether the source was changed unseen before this moment, in virtual milliseconds. */
  isBefore(source: string, moment: number): boolean {
    return (this.#at.get(source) ?? Infinity) <= moment;
  }
}
