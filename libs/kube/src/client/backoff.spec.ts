import { expect, test } from 'vitest';
import { Backoff } from './backoff.ts';

test('delays double from the base to the limit', () => {
  const backoff = new Backoff({ baseMs: 100, maxMs: 1000, random: () => 1 });
  expect([1, 2, 3, 4, 5, 6].map(() => backoff.next())).toEqual([100, 200, 400, 800, 1000, 1000]);
  expect(backoff.attempts).toBe(6);
});

test('jitter takes away at most half', () => {
  const backoff = new Backoff({ baseMs: 100, maxMs: 1000, random: () => 0 });
  expect([1, 2, 3].map(() => backoff.next())).toEqual([50, 100, 200]);
});

test('after a reset it begins anew', () => {
  const backoff = new Backoff({ baseMs: 100, random: () => 1 });
  backoff.next();
  backoff.next();
  backoff.reset();
  expect(backoff.next()).toBe(100);
});

test('a thousand failures in a row still give the limit', () => {
  const backoff = new Backoff({ random: () => 1 });
  for (let count = 0; count < 1000; count += 1) backoff.next();
  expect(backoff.next()).toBe(30_000);
});
