import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Pace } from './pace.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('what happens is told after a second, and then every five seconds at most, and the last is not left out', () => {
  const began = Date.now();
  const told: number[] = [];
  const pace = new Pace(() => told.push(Date.now() - began), { soon: 1_000, every: 5_000 });
  for (let at = 0; at < 12_000; at += 100) {
    pace.tell();
    vi.advanceTimersByTime(100);
  }
  vi.advanceTimersByTime(60_000);
  expect(told).toEqual([1_000, 6_000, 11_000, 16_000]);
  pace.tell();
  vi.advanceTimersByTime(1_000);
  expect(told).toHaveLength(5);
});
