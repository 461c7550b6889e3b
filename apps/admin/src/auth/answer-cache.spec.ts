import { describe, expect, it } from 'vitest';
import { AnswerCache } from './answer-cache.ts';

interface Asking {
  readonly cache: AnswerCache<boolean>;
  readonly asked: string[];
  pass(ms: number): void;
  ask(question: string, answer?: boolean): Promise<boolean>;
}

function asking(most = 10): Asking {
  let now = 0;
  const asked: string[] = [];
  const cache = new AnswerCache<boolean>({
    most,
    keptFor: (answer) => (answer ? 10 : 5),
    now: () => now,
  });
  return {
    cache,
    asked,
    pass: (ms) => void (now += ms),
    ask: (question, answer = true) =>
      cache.get(question, () => {
        asked.push(question);
        return Promise.resolve(answer);
      }),
  };
}

describe('an answer', () => {
  it('that allows is kept for longer than one that denies', async () => {
    const { ask, asked, pass } = asking();
    expect([await ask('a', true), await ask('b', false)]).toEqual([true, false]);
    pass(4);
    expect([await ask('a', false), await ask('b', true)]).toEqual([true, false]);
    pass(1);
    expect([await ask('a', false), await ask('b', true)]).toEqual([true, true]);
    pass(5);
    expect(await ask('a', false)).toBe(false);
    expect(asked).toEqual(['a', 'b', 'b', 'a']);
  });

  it('is asked for once by many at the same time', async () => {
    const { ask, asked } = asking();
    expect(await Promise.all([ask('a'), ask('a'), ask('a')])).toEqual([true, true, true]);
    expect(asked).toEqual(['a']);
  });

  it('that could not be had is not kept', async () => {
    const { cache, ask } = asking();
    await expect(cache.get('a', () => Promise.reject(new Error('away')))).rejects.toThrow('away');
    expect(cache.size).toBe(0);
    expect(await ask('a')).toBe(true);
  });

  it('gives way to newer ones when there are too many', async () => {
    const { cache, ask, asked } = asking(2);
    for (const question of ['a', 'b', 'c']) await ask(question);
    expect(cache.size).toBe(2);
    await ask('c');
    await ask('a');
    expect(asked).toEqual(['a', 'b', 'c', 'a']);
  });

  it('that is copied from another cache is kept for no longer than there', async () => {
    const { cache, ask, pass } = asking();
    const other = asking();
    await ask('a', true);
    pass(9);
    other.pass(9);
    other.cache.copyFrom(cache, 'a');
    expect(await other.ask('a', false)).toBe(true);
    other.pass(1);
    expect(await other.ask('a', false)).toBe(false);
  });

  it('that is being asked for, or is not kept, is not copied', async () => {
    const { cache } = asking();
    const other = asking();
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const asked = cache.get('a', () => promise);
    other.cache.copyFrom(cache, 'a');
    other.cache.copyFrom(cache, 'b');
    expect(other.cache.size).toBe(0);
    resolve(true);
    expect(await asked).toBe(true);
  });
});
