import { expect, it } from 'vitest';
import { ChangeDebounce } from './change-debounce.ts';

const CM = 'ConfigMap/shop/settings';

/** When the jobs run of a source that is enqueued at these times: each time once. */
function runsOf(debounce: ChangeDebounce, times: readonly number[]): number[] {
  const runs = new Set<number>();
  for (const now of times) {
    runs.add(now + debounce.delayOf(CM, now));
    debounce.enqueued([CM], now);
  }
  return [...runs];
}

const everyMillisecond = Array.from({ length: 10_000 }, (_, now) => now);

it('the first runs at once, and then one each debounce, however often the source changes', () => {
  const runs = runsOf(new ChangeDebounce(500), everyMillisecond);
  expect(runs).toEqual(Array.from({ length: 21 }, (_, index) => index * 500));
});

it('a change after the debounce runs at once', () => {
  expect(runsOf(new ChangeDebounce(500), [0, 500, 1_700])).toEqual([0, 500, 1_700]);
});

it('no change runs later than the debounce after it was seen', () => {
  const debounce = new ChangeDebounce(500);
  for (const now of everyMillisecond) {
    expect(debounce.delayOf(CM, now)).toBeLessThanOrEqual(500);
    debounce.enqueued([CM], now);
  }
});

it('a clock that is set back holds nothing up', () => {
  expect(runsOf(new ChangeDebounce(500), [1_000_000, 1_000])).toEqual([1_000_000, 1_000]);
});

it('without a debounce each runs at once', () => {
  expect(runsOf(new ChangeDebounce(0), [0, 1, 2])).toEqual([0, 1, 2]);
});

it('sources are remembered for one debounce', () => {
  const debounce = new ChangeDebounce(500);
  for (let now = 0; now < 10_000; now += 1) debounce.enqueued([`ConfigMap/shop/cm-${now}`], now);
  expect(debounce.size).toBeLessThanOrEqual(501);
});
