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

/** Runs sliced work without pauses: for small work, or where nothing else has to run. */
export function inOneGo(work: Iterable<void>): void {
  for (const _ of work) continue;
}

/** Work on patterns and rules in one turn, in steps of matching; see `work`. */
const TURN_STEPS = 250_000;
/** Cost of the rules for one pair, in steps. */
const DECISION_STEPS = 100;
/** Cost of one name in a row that is rebuilt, in steps. */
const DEPENDENCY_STEPS = 10;

/** Begins a turn. Returns a function that tells whether the turn has used up its steps. */
export function turn(): () => boolean {
  const until = spent() + TURN_STEPS;
  return () => spent() >= until;
}

function spent(): number {
  return work.matchSteps + DECISION_STEPS * work.decisions + DEPENDENCY_STEPS * work.dependencyNames;
}
