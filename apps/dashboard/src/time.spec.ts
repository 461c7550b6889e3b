import { describe, expect, it } from 'vitest';
import { lasting, localTime, relativeTime, took, utcTime } from './time.ts';

const NOW = new Date(2026, 10, 21, 15, 0, 0);

describe('times', () => {
  it.each([
    [new Date(2026, 10, 21, 9, 5, 7), '09:05:07'],
    [new Date(2026, 10, 20, 9, 5, 7), '20 Nov, 09:05:07'],
    [new Date(2025, 10, 21, 9, 5, 7), '21 Nov 2025, 09:05:07'],
  ])('%s is shown in the zone of the reader, with the day only if it is another one', (time, shown) => {
    expect(localTime(time, NOW)).toBe(shown);
  });

  it('have UTC as their title', () => {
    expect(utcTime(new Date('2026-11-21T15:00:01.234Z'))).toBe('2026-11-21 15:00:01 UTC');
  });

  it.each([
    [-20, '0 ms'],
    [340, '340 ms'],
    [1_240, '1.2 s'],
    [125_000, '2 min 5 s'],
    [120_000, '2 min'],
    [10_920_000, '3 h 2 min'],
    [200_000_000, '2 d'],
  ])('%s milliseconds took %s', (milliseconds, words) => {
    expect(took(milliseconds)).toBe(words);
  });

  it.each([
    [-4, 'just now'],
    [4, 'just now'],
    [5, '5 s ago'],
    [240, '4 min ago'],
    [-7_260, 'in 2 h'],
  ])('%s seconds back is %s', (seconds, words) => {
    expect(relativeTime(new Date(NOW.getTime() - seconds * 1_000), NOW)).toBe(words);
  });

  it.each([
    [-3, '0 s'],
    [0.4, '0 s'],
    [59.9, '59 s'],
    [60, '1 min'],
    [3_599, '59 min'],
    [3_600, '1 h'],
    [172_799, '47 h'],
    [172_800, '2 d'],
  ])('%s seconds last %s', (seconds, words) => {
    expect(lasting(seconds)).toBe(words);
  });
});
