import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Does work slice by slice, with a turn of the event loop after each, so that timers, and whatever else is waiting, come
 * in between. `each` gets what a slice found. Stops once `ended` has fired: what it still had to do is nobody's then.
 */
export async function inTurns<T>(
  work: Iterable<T>,
  { each, ended }: { each?: (found: T) => void; ended?: AbortSignal } = {},
): Promise<void> {
  for (const found of work) {
    each?.(found);
    await nextTurn();
    if (ended?.aborted) return;
  }
}
