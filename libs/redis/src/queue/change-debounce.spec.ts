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

it('of a source that does not stop changing, jobs run every half quiet period for one debounce, then each debounce', () => {
  const runs = runsOf(new ChangeDebounce(500), everyMillisecond);
  const first = Array.from({ length: 11 }, (_, index) => index * 50);
  expect(runs).toEqual([...first, ...Array.from({ length: 19 }, (_, index) => 1_000 + index * 500)]);
});

it('a change after the quiet period runs at once', () => {
  expect(runsOf(new ChangeDebounce(500), [0, 100, 350, 400])).toEqual([0, 100, 350, 400]);
});

it('a source that changes again and again, but not all the time, has a job each debounce too', () => {
  const times = Array.from({ length: 50 }, (_, index) => index * 200);
  const runs = runsOf(new ChangeDebounce(500), times);
  expect(runs.slice(0, 5)).toEqual([0, 200, 400, 600, 1_100]);
  for (const [index, at] of runs.slice(4).entries()) expect(at).toBe(1_100 + index * 500);
});

it('a debounce without a job ends the burst', () => {
  const burst = Array.from({ length: 20 }, (_, index) => index * 50);
  const runs = runsOf(new ChangeDebounce(500), [...burst, 1_500, 1_550]);
  expect(runs.slice(-3)).toEqual([1_000, 1_500, 1_550]);
});

it('with a short debounce all jobs are at least half of it apart', () => {
  expect(runsOf(new ChangeDebounce(20), [0, 5, 12, 15, 25])).toEqual([0, 10, 20, 40]);
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
