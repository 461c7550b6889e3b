import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { giveBackMemory } from './memory.ts';

/** A separate function, so that nothing of it stays on the stack. */
function something(): WeakRef<object> {
  return new WeakRef({ data: Array.from({ length: 100_000 }, (_, index) => ({ index })) });
}

describe('giving memory back', () => {
  it('collects what nobody holds any more', async () => {
    const gone = something();
    await nextTurn();
    giveBackMemory();
    expect(gone.deref()).toBeUndefined();
  });

  it('leaves no `gc` behind', () => {
    giveBackMemory();
    expect(globalThis).not.toHaveProperty('gc');
  });
});
