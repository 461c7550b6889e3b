import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { giveBackMemorySoon, giveBackMuchMemory } from './memory.ts';

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

/** How often V8 collects all garbage in a process of its own that makes much of it, and of which 150 MB stay in use. */
function collections(before: string): number {
  const module = JSON.stringify(pathToFileURL(join(import.meta.dirname, 'memory.ts')).href);
  const program = `
    import { growHeapSlowly } from ${module};
    ${before}
    const held = [];
    for (let at = 0; at < 150; at += 1) {
      held.push(Array.from({ length: 10_000 }, (_, index) => ({ at, index, more: [index] })));
      for (let copy = 0; copy < 10; copy += 1) JSON.parse(JSON.stringify(held[at].slice(0, 2_000)));
      await new Promise(setImmediate);
    }
  `;
  const flags = ['--trace-gc', '--max-semi-space-size=4', '--input-type=module', '--eval', program];
  return execFileSync(process.execPath, flags, { encoding: 'utf8' }).match(/Mark-Compact/gu)?.length ?? 0;
}

it('collects garbage at least twice as often, once the heap is to grow slowly', () => {
  const byDefault = collections('');
  expect(byDefault).toBeGreaterThan(0);
  expect(collections('growHeapSlowly();')).toBeGreaterThanOrEqual(2 * byDefault);
});
