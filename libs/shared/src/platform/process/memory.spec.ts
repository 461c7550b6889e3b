import { execFileSync } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { giveBackMemorySoon, giveBackMuchMemory, GROWTH } from './memory.ts';

/** A separate function, so that nothing of it stays on the stack. */
function something(): WeakRef<object> {
  return new WeakRef({ data: Array.from({ length: 100_000 }, (_, index) => ({ index })) });
}

/** Ends the job in which a WeakRef was made, which keeps its target. */
const nextTurn = (): Promise<unknown> => new Promise((resolve) => setImmediate(resolve));

describe('giving memory back', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  it('collects what nobody holds any more two seconds after the last call', async () => {
    const gone = something();
    await nextTurn();
    giveBackMemorySoon();
    vi.advanceTimersByTime(1_500);
    giveBackMemorySoon();
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(2_000);
    expect(gone.deref()).toBeUndefined();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('collects between two steps of a start if the heap is large', async () => {
    const held = Array.from({ length: 200 }, () => Array.from({ length: 50_000 }, () => 0));
    const gone = something();
    await nextTurn();
    giveBackMuchMemory();
    expect(gone.deref()).toBeUndefined();
    expect(held).toHaveLength(200);
  });

  it('leaves no `gc` behind', () => {
    giveBackMemorySoon();
    vi.advanceTimersByTime(2_000);
    expect(globalThis).not.toHaveProperty('gc');
  });
});

it('V8 knows the flag by which the heap grows slowly', () => {
  // It ignores one that it does not know, and says so.
  expect(() => execFileSync(process.execPath, [GROWTH, '--version'], { stdio: 'pipe' })).not.toThrow();
  const unknown = [GROWTH.replace('heap', 'pile'), '--version'];
  expect(() => execFileSync(process.execPath, unknown, { stdio: 'pipe' })).toThrow('bad option');
});
