import { describe, expect, it } from 'vitest';
import { RecognizedTokens } from './recognized-tokens.ts';

describe('recognized tokens', () => {
  it('are those that were added and not removed', () => {
    const tokens = new RecognizedTokens();
    tokens.add('a', 'ann');
    tokens.add('b', 'bob');
    tokens.remove('a');
    tokens.remove('c');
    expect(['a', 'b', 'c'].map((token) => tokens.has(token))).toEqual([false, true, false]);
  });

  it('of one user give way to newer ones of theirs, and to no others', () => {
    const tokens = new RecognizedTokens();
    tokens.add('of bob', 'bob');
    for (let count = 0; count < 10_000; count += 1) tokens.add(`a${count}`, 'ann');
    expect([tokens.has('of bob'), tokens.has('a9999'), tokens.has('a0')]).toEqual([true, true, false]);
    expect(tokens.size).toBe(21);
  });

  it('are bounded, and those in use stay', () => {
    const tokens = new RecognizedTokens();
    for (let count = 0; count < 10_000; count += 1) {
      tokens.add(`t${count}`, `user ${count}`);
      tokens.add('in use', 'bob');
    }
    expect([tokens.size, tokens.has('in use'), tokens.has('t0')]).toEqual([2_000, true, false]);
  });
});
