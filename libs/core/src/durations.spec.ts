import { assert, integer, property } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatDuration, parseDuration } from './durations.ts';

describe('a duration', () => {
  it.each([
    ['reads milliseconds', '500ms', 500],
    ['reads several units in one', '1h30m', 5_400_000],
    ['reads days, which Go does not have', '7d', 604_800_000],
    ['reads zero without a unit', '0', 0],
    ['reads a fraction', '1.5s', 1_500],
    ['reads a fraction without a whole part', '.5s', 500],
    ['reads a fraction without decimals', '1.s', 1_000],
    ['reads a sign', '-2m', -120_000],
    ['reads microseconds as a fraction', '250us', 0.25],
    ['reads the micro sign', '250µs', 0.25],
    ['reads the Greek mu', '250μs', 0.25],
  ])('%s: %s', (_sentence, text, milliseconds) => {
    expect(parseDuration(text)).toBeCloseTo(milliseconds, 9);
  });

  it.each([
    ['is not empty', ''],
    ['needs a unit', '500'],
    ['needs a number', 's'],
    ['has no blanks', '1h 30m'],
    ['has no unknown unit', '5minutes'],
    ['has its units in lower case', '5S'],
    ['has one sign only', '--5s'],
    ['is nothing but digits and units', '5s!'],
    ['has no more than 2^63 ns, as in Go', '2562047h47m16.9s'],
    ['has no less than -2^63 ns', '-106752d'],
    ['takes no time for the square of its length', '1'.repeat(250_000)],
  ])('%s: %j', (_sentence, text) => {
    expect(parseDuration(text)).toBeUndefined();
  });

  it('may be as long as in Go', () => {
    expect(parseDuration('2562047h47m16.854775807s')).toBeCloseTo(9_223_372_036_854.775, 2);
    expect(parseDuration('-2562047h47m16.854775808s')).toBeCloseTo(-9_223_372_036_854.775, 2);
  });

  it.each([
    [0, '0'],
    [500, '500ms'],
    [5_400_000, '1h30m'],
    [604_800_000, '7d'],
    [-1_500, '-1s500ms'],
  ])('of %d milliseconds is written %s', (milliseconds, text) => {
    expect(formatDuration(milliseconds)).toBe(text);
  });

  it('is read as it was written', () => {
    assert(
      property(integer({ min: -1e12, max: 1e12 }), (milliseconds) => {
        expect(parseDuration(formatDuration(milliseconds))).toBe(milliseconds);
      }),
    );
  });
});
