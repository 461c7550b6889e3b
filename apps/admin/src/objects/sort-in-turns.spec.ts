import { expect, test } from 'vitest';
import { SORTED_PER_TURN, sortInTurns, sortSlices } from './sort-in-turns.ts';

const LONG = 50 * SORTED_PER_TURN + 7;

/** Items in an order that is far from sorted, the same each time. */
function shuffled(count: number, prefix = 'ns'): string[] {
  return Array.from({ length: count }, (_, n) => `${prefix}${(n * 7_919) % count}/web/Deployment`);
}

test('what is sorted in turns is what a sort would give', async () => {
  const known = shuffled(3_001, 'a').sort();
  const others = [...shuffled(4_999, 'a/b'), ...shuffled(2_500, 'A')];
  expect(await sortInTurns(known, others)).toEqual([...known, ...others].sort());
  expect(await sortInTurns([], [])).toEqual([]);
  expect(await sortInTurns(known, [])).toEqual(known);
});

test('no turn compares more than a sort of one slice would, however many there are', () => {
  let compared = 0;
  let most = 0;
  const isBefore = (a: string, b: string): boolean => {
    compared += 1;
    return a < b;
  };
  const slices = sortSlices(shuffled(LONG, 'known').sort(), shuffled(LONG), isBefore);
  while (slices.next().done !== true) {
    most = Math.max(most, compared);
    compared = 0;
  }
  expect(most).toBeLessThanOrEqual(SORTED_PER_TURN * Math.ceil(Math.log2(SORTED_PER_TURN)));
});
