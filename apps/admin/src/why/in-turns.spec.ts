import { describe, expect, it } from 'vitest';
import { inTurns } from './in-turns.ts';

/** Steps of this many milliseconds, by a clock that they advance. */
function working(
  count: number,
  ms: number,
): { steps: Generator<undefined, string>; now: () => number; done: () => number } {
  let time = 0;
  let done = 0;
  function* work(): Generator<undefined, string> {
    for (; done < count; done += 1) {
      time += ms;
      yield;
    }
    return 'done';
  }
  return { steps: work(), now: () => time, done: () => done };
}

describe('work in turns', () => {
  it('comes to its end', async () => {
    const { steps, now } = working(100, 3);
    expect(await inTurns(steps, new AbortController().signal, now)).toBe('done');
  });

  it('rests after eight milliseconds, so that others get their turn', async () => {
    const { steps, now, done } = working(10, 5);
    const seen: number[] = [];
    const look = (): void => {
      seen.push(done());
      if (done() < 10) setImmediate(look);
    };
    setImmediate(look);
    await inTurns(steps, new AbortController().signal, now);
    expect(seen.slice(0, 3)).toEqual([1, 3, 5]);
  });

  it('stops at the next rest when nobody waits for it any more', async () => {
    const { steps, now, done } = working(1_000, 30);
    const gone = new AbortController();
    setImmediate(() => gone.abort());
    await expect(inTurns(steps, gone.signal, now)).rejects.toMatchObject({ code: 'Unavailable' });
    expect(done()).toBeLessThan(5);
  });

  it('does not begin when nobody waits for it any more', async () => {
    const { steps, done } = working(10, 1);
    await expect(inTurns(steps, AbortSignal.abort())).rejects.toMatchObject({ code: 'Unavailable' });
    expect(done()).toBe(0);
  });
});
