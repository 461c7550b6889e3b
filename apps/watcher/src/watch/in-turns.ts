import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Does the work in slices, with a turn of the event loop after each, so that timers and other events run in between.
 * `each` gets the result of each slice. Stops once `ended` has fired and drops the rest.
 */
export async function inTurns<T>(
  work: Iterable<T>,
  { each, ended }: { each?: (result: T) => void; ended?: AbortSignal } = {},
): Promise<void> {
  for (const result of work) {
    each?.(result);
    await nextTurn();
    if (ended?.aborted) return;
  }
}
