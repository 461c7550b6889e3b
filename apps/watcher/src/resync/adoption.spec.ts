import { expect, it } from 'vitest';
import { ADOPTION_PAUSE, AdoptionRate } from './adoption.ts';

/** The tokens taken at each check during this many seconds, with more waiting than can be taken. */
function takenIn(seconds: number, perSecond: number): number[] {
  let now = 0;
  const rate = new AdoptionRate(perSecond, () => now);
  const taken: number[] = [];
  for (; now < seconds * 1000; now += ADOPTION_PAUSE) taken.push(rate.take(1_000_000));
  return taken;
}

it.each([1, 20, 30, 200, 10_000])(
  '%d a second are taken a few at a time, also after a long rest',
  (perSecond) => {
    const taken = takenIn(60, perSecond);
    const most = 1 + Math.floor((perSecond * ADOPTION_PAUSE) / 1000);
    expect(Math.max(...taken)).toBeLessThanOrEqual(most);
    const all = taken.reduce((sum, each) => sum + each, 0);
    expect(all).toBeLessThanOrEqual(60 * perSecond + most);
    expect(all).toBeGreaterThanOrEqual(59 * perSecond);
  },
);
