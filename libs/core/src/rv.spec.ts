import { describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import { compareRv, isNewer, maxRv, parseRv } from './rv.ts';

describe('resourceVersions', () => {
  it('are compared as integers of any size', () => {
    const number = fc.bigInt({ min: 0n, max: 2n ** 80n });
    fc.assert(
      fc.property(number, number, (a, b) => {
        expect(Math.sign(compareRv(String(a), String(b)))).toBe(a < b ? -1 : Number(a > b));
        expect(maxRv(String(a), String(b))).toBe(String(a > b ? a : b));
        expect(isNewer(String(a), String(b))).toBe(a > b);
      }),
    );
  });

  it.each(['', 'abc', '-1', '1.5', '007', undefined, 12])(
    'refuse %j with what was expected and what was given',
    (text) => {
      expect(() => parseRv(text)).toThrow(/expected a resourceVersion .* given/);
    },
  );
});
