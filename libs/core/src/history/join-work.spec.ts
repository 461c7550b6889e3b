import { expect, it } from 'vitest';
import { changed, inStep, reloaded, retrying } from '../testing/history.ts';
import { HistoryJoin } from './join.ts';

/** Changes of one source pile up while a queue is paused; a tenant's workload can wait for that many. */
const FEW = 1_000;
const MANY = 4_000;
/** Twice as much for each as the few take would still be far from the square. */
const MORE = (2 * MANY) / FEW;

/** Ids that are read, and elements of arrays that are filtered or sorted. */
function workOf(action: () => void): number {
  let work = 0;
  const count = <Self extends { readonly length: number }>(
    of: Self,
    name: keyof Self,
    weigh: (self: Self) => number,
  ) => {
    const real = of[name] as (...args: unknown[]) => unknown;
    const counted = function counted(this: Self, ...args: unknown[]): unknown {
      work += weigh(this);
      return Reflect.apply(real, this, args);
    };
    // Not a spy of Vitest's, which would keep every call.
    Object.defineProperty(of, name, { value: counted, configurable: true, writable: true });
    return () => Object.defineProperty(of, name, { value: real, configurable: true, writable: true });
  };
  const ends = [
    count(String.prototype, 'indexOf', () => 1),
    count(Array.prototype as unknown[], 'filter', ({ length }) => length),
    count(Array.prototype as unknown[], 'sort', ({ length }) => length),
  ];
  try {
    action();
  } finally {
    for (const end of ends) end();
  }
  return work;
}

function waiting(count: number): HistoryJoin {
  const join = new HistoryJoin();
  for (let at = 1; at <= count; at += 1) join.addChange(`${1000 + at}-0`, changed(1000 + at));
  return join;
}

const LATER = 1_000_000;

const CASES: Readonly<Record<string, (count: number) => number>> = {
  'the outcome that all of them waited for': (count) => {
    const join = waiting(count);
    return workOf(() => join.addOutcome(`${LATER}-0`, reloaded(1000)));
  },
  'one that takes all of them over from another': (count) => {
    const join = waiting(count);
    join.addOutcome(`${LATER}-0`, retrying(1000));
    return workOf(() => join.addOutcome(`${LATER}-1`, reloaded(1000)));
  },
  'changes that are read after their outcomes, as at the start': (count) => {
    const join = new HistoryJoin();
    join.addOutcome(`${LATER}-0`, inStep(1000, { reason: 'Contested', sources: {} }));
    join.addOutcome(`${LATER}-1`, reloaded(1000));
    return workOf(() => {
      for (let at = 1; at <= count; at += 1) join.addChange(`${1000 + at}-0`, changed(1000 + at));
    });
  },
  'dropping them all': (count) => {
    const join = waiting(count);
    join.addOutcome(`${LATER}-0`, reloaded(1000));
    return workOf(() => join.dropChanges(`${LATER}-0`));
  },
};

it.each(Object.entries(CASES))('%s: no more work for each where many wait than where few do', (_, work) => {
  const few = work(FEW);
  expect(few).toBeGreaterThanOrEqual(FEW);
  expect(work(MANY)).toBeLessThan(MORE * few);
});
