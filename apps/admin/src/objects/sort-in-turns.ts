import { setImmediate as nextTurn } from 'node:timers/promises';

/** Items sorted or merged in one turn of the event loop: some milliseconds. */
export const SORTED_PER_TURN = 2_000;

type IsBefore = (a: string, b: string) => boolean;

/** Compares code units, as `sort` does. */
const byCodeUnits: IsBefore = (a, b) => a < b;

/**
 * Sorts the items of a sorted list together with unsorted ones, in slices: the generator yields after each. Specs count
 * comparisons by `isBefore`.
 */
export function* sortSlices(
  known: readonly string[],
  others: readonly string[],
  isBefore: IsBefore = byCodeUnits,
): Generator<void, readonly string[], void> {
  let runs: (readonly string[])[] = [];
  for (let at = 0; at < others.length; at += SORTED_PER_TURN) {
    const run = others.slice(at, at + SORTED_PER_TURN);
    runs.push(run.sort((a, b) => (isBefore(a, b) ? -1 : 1)));
    yield;
  }
  while (runs.length > 1) {
    const merged: (readonly string[])[] = [];
    for (let at = 0; at < runs.length; at += 2) {
      const [a = [], b = []] = [runs[at], runs[at + 1]];
      merged.push(yield* merge(a, b, isBefore));
    }
    runs = merged;
  }
  return yield* merge(known, runs[0] ?? [], isBefore);
}

function* merge(
  a: readonly string[],
  b: readonly string[],
  isBefore: IsBefore,
): Generator<void, readonly string[], void> {
  const merged: string[] = [];
  let from = 0;
  for (const item of a) {
    for (let other = b[from]; other !== undefined && isBefore(other, item); other = b[from]) {
      from += 1;
      merged.push(other);
      if (merged.length % SORTED_PER_TURN === 0) yield;
    }
    merged.push(item);
    if (merged.length % SORTED_PER_TURN === 0) yield;
  }
  return merged.concat(b.slice(from));
}

/** As `sortSlices`, with a turn of the event loop after each slice. */
export async function sortInTurns(
  known: readonly string[],
  others: readonly string[],
): Promise<readonly string[]> {
  const slices = sortSlices(known, others);
  for (;;) {
    const next = slices.next();
    if (next.done === true) return next.value;
    await nextTurn();
  }
}
