import { work } from '../work.ts';

/**
 * Rows to process before the caller lets the event loop turn, so that no timer (above all the Lease's) and no event waits for long
 * work. A row takes some tens of microseconds.
 */
export const ROWS_PER_SLICE = 250;

/** Yields the items in order, in slices of `size`; the last may be smaller. */
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

/** Calls `each` for the items in order. Yields after `size` of them, or earlier if the turn is over, and after the last. */
export function* inSlices<T>(
  items: Iterable<T>,
  { size, each }: { readonly size: number; readonly each: (item: T) => void },
): Generator<void, void, void> {
  let isOver = turn();
  let left = size;
  for (const item of items) {
    each(item);
    left -= 1;
    if (left > 0 && !isOver()) continue;
    yield;
    isOver = turn();
    left = size;
  }
  if (left < size) yield;
}

/** Runs sliced work without pauses: for small work, or where nothing else has to run. */
export function inOneGo(work: Iterable<void>): void {
  for (const _ of work) continue;
}

/** Work in one turn, in steps of matching, of at most about 20 ns each. The costs below are in such steps. */
const TURN_STEPS = 250_000;
/** The cost of each, as measured; see `work`. */
const STEPS = {
  decisions: 100,
  dependencyNames: 10,
  sourceLookups: 20,
  listCharacters: 1,
  recordCharacters: 0.5,
};

/** Begins a turn. Returns a function that tells whether the turn has used up its steps. */
export function turn(): () => boolean {
  const until = spent() + TURN_STEPS;
  return () => spent() >= until;
}

function spent(): number {
  return (
    work.matchSteps +
    STEPS.decisions * work.decisions +
    STEPS.dependencyNames * work.dependencyNames +
    STEPS.sourceLookups * work.sourceLookups +
    STEPS.listCharacters * work.listCharacters +
    STEPS.recordCharacters * work.recordCharacters
  );
}
