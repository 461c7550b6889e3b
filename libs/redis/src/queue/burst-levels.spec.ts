import { expect, it } from 'vitest';
import { BurstLevels, LAST_LEVEL } from './burst-levels.ts';

function levelsAt(clock: { now: number }): BurstLevels {
  return new BurstLevels(() => clock.now);
}

/** The levels of so many jobs that one namespace enqueues at once. */
function burst(levels: BurstLevels, namespace: string, jobs: number): number[] {
  return Array.from({ length: jobs }, () => levels.next(namespace));
}

it.each([
  [0, 32],
  [1, 32],
  [2, 64],
  [3, 128],
  [4, 256],
])('level %d of a burst holds %d jobs', (level, jobs) => {
  const given = burst(levelsAt({ now: 0 }), 'a', 1_000);
  expect(given.filter((each) => each === level)).toHaveLength(jobs);
});

it('never falls within a burst, and ends at the last level', () => {
  const given = burst(levelsAt({ now: 0 }), 'a', 2_000_000);
  expect(given.every((level, index) => index === 0 || level >= (given[index - 1] ?? 0))).toBe(true);
  expect(given.at(-1)).toBe(LAST_LEVEL);
});

it('of one namespace does not depend on what others enqueue', () => {
  const levels = levelsAt({ now: 0 });
  burst(levels, 'a', 10_000);
  expect(levels.next('b')).toBe(0);
});

it('is 0 again for whoever enqueues 32 a second', () => {
  const clock = { now: 0 };
  const levels = levelsAt(clock);
  for (clock.now = 0; clock.now < 60_000; clock.now += 1_000)
    expect(burst(levels, 'a', 32).every((level) => level === 0)).toBe(true);
});

it('forgets namespaces whose burst is over', () => {
  const clock = { now: 0 };
  const levels = levelsAt(clock);
  for (let n = 0; n < 1_000; n += 1) levels.next(`ns-${n}`);
  clock.now = 60_000;
  levels.next('other');
  expect(levels.size).toBe(1);
});
