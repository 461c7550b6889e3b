import { assert, array, double, integer, property } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { median, percentile } from '../src/measure/numbers.ts';

const TEN = [10, 9, 8, 7, 6, 5, 4, 3, 2, 1];

describe('a percentile', () => {
  const cases: Record<string, readonly [readonly number[], number, number]> = {
    'of an even number of values is the lower of the middle two': [TEN, 0.5, 5],
    'p90 of ten values is the ninth': [TEN, 0.9, 9],
    'p99 of ten values is the last': [TEN, 0.99, 10],
    'of one value is that value': [[7], 0.5, 7],
    'p0 is the first': [TEN, 0, 1],
    'of nothing is no number': [[], 0.5, Number.NaN],
  };

  it.each(Object.entries(cases))('%s', (_, [values, share, expected]) => {
    expect(percentile(values, share)).toBe(expected);
  });

  it('has its share of the values at or below it', () => {
    assert(
      property(
        array(integer(), { minLength: 1 }),
        double({ min: 0, max: 1, noNaN: true }),
        (values, share) => {
          const value = percentile(values, share);
          expect(values.filter((each) => each <= value).length).toBeGreaterThanOrEqual(share * values.length);
        },
      ),
    );
  });
});

describe('the median', () => {
  const cases: Record<string, readonly [readonly number[], number]> = {
    'of an odd number of values is the middle one': [[3, 1, 2], 2],
    'of an even number of values is between the middle two': [[4, 1, 3, 2], 2.5],
    'of nothing is no number': [[], Number.NaN],
  };

  it.each(Object.entries(cases))('%s', (_, [values, expected]) => {
    expect(median(values)).toBe(expected);
  });
});
