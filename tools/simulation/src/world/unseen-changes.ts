import type { Commit } from './commit.ts';
import type { TruthBy, Workload } from './known.ts';
import { letterAt } from './objects.ts';
import { recordedLetter } from './recorded.ts';
import { hasLabel } from './scope.ts';
import { keyOf, type KubeObject } from './shapes.ts';

/** Virtual milliseconds from a decision to its patch. */
export const ON_ITS_WAY = 5_000;

/** Whether no watch shows that the pods were started with other data than that which is recorded, and which the source has now again. */
export function isBackUnseen(
  { shown, startedAt }: Workload,
  source: KubeObject | undefined,
  by: TruthBy,
): boolean {
  if (!source || !by.isListedAgain(source.kind) || startedAt < by.watchedUntil(0) - ON_ITS_WAY) return false;
  return recordedLetter(shown.object, keyOf(source), by.rules.hashKeys) === letterAt(source);
}

/** Whether no watch shows the creation of the source, because its watches are broken and cannot be resumed. */
export function isCreationUnseen({ before, after }: Commit, by: TruthBy): boolean {
  return (
    before === undefined &&
    after !== undefined &&
    by.isListedAgain(after.kind) &&
    by.watchedUntil(0) < by.now()
  );
}

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
