import { describe, expect, it } from 'vitest';
import { AwaitedKeys } from './awaited-keys.ts';

const MINUTE = 60_000;

describe('an entry of a record', () => {
  it('under a key that is not known is left to others for ten minutes from the first of them on', () => {
    const keys = new AwaitedKeys([{ id: 'old' }]);
    expect(keys.isAwaited('knew.A', 0)).toBe(true);
    expect(keys.isAwaited('knew.B', 10 * MINUTE - 1)).toBe(true);
    expect(keys.isAwaited('knew.A', 10 * MINUTE)).toBe(false);
    expect(keys.isAwaited('knewer.A', 10 * MINUTE)).toBe(true);
  });

  it('under one key too many is not left to others, and takes no memory', () => {
    const keys = new AwaitedKeys([{ id: 'old' }]);
    for (let made = 0; made < 100; made += 1) expect(keys.isAwaited(`k${made}.A`, 0)).toBe(true);
    expect(keys.isAwaited('k100.A', 0)).toBe(false);
    expect(keys.isAwaited('k99.A', 1)).toBe(true);
    expect(keys.isAwaited('k100.A', 20 * MINUTE)).toBe(false);
  });

  it('under a key that is known, or under none, is never left to others', () => {
    const keys = new AwaitedKeys([{ id: 'old' }]);
    expect(keys.isAwaited('kold.A', 0)).toBe(false);
    expect(keys.isAwaited('1.A', 0)).toBe(false);
    expect(keys.isAwaited('0.deleted', 0)).toBe(false);
  });
});
