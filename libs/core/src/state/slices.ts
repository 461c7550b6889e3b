/**
 * Rows that are worked on in one go. The caller then lets the event loop turn, so that no timer (the Lease's above
 * all) and no other event waits for long work. A row costs some tens of microseconds.
 */
export const ROWS_PER_SLICE = 250;

/** The same items in the same order, in portions of `size`; the last may be smaller. */
export function* slicesOf<T>(items: Iterable<T>, size: number): Generator<readonly T[], void, void> {
  let slice: T[] = [];
  for (const item of items) {
    slice.push(item);
    if (slice.length < size) continue;
    yield slice;
    slice = [];
  }
  if (slice.length > 0) yield slice;
}

/** Does work at once that is made to be done in slices: for a little of it, and where nothing else has to go on. */
export function inOneGo(work: Iterable<void>): void {
  for (const _ of work) continue;
}
