import { work } from '../work.ts';

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

/** What may be spent on patterns and rules in one go, in steps of matching; see `work`. */
const TURN_STEPS = 250_000;
/** What the rules take besides, for one pair. */
const DECISION_STEPS = 100;
/** For one name in a row that is made anew. */
const DEPENDENCY_STEPS = 10;

/** Begins a turn. What it gives says whether as much was spent since as one turn may take. */
export function turn(): () => boolean {
  const until = spent() + TURN_STEPS;
  return () => spent() >= until;
}

function spent(): number {
  return work.matchSteps + DECISION_STEPS * work.decisions + DEPENDENCY_STEPS * work.dependencyNames;
}
