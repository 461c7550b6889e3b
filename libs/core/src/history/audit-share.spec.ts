import { describe, expect, it } from 'vitest';
import { auditShareOf } from './audit-share.ts';

describe('the share of a caller', () => {
  it.each<[string, string, string, boolean]>([
    ['is their own', 'ann', 'bob', false],
    [
      'is that of all service accounts of a namespace',
      'system:serviceaccount:shop:a',
      'system:serviceaccount:shop:b',
      true,
    ],
    [
      'is apart from those of another namespace',
      'system:serviceaccount:shop:a',
      'system:serviceaccount:bank:a',
      false,
    ],
  ])('%s', (_sentence, one, other, isSame) => {
    expect(auditShareOf(one) === auditShareOf(other)).toBe(isSame);
  });

  it('is of one length, whatever the name', () => {
    expect(new Set(['', 'ann', 'x'.repeat(10_000)].map((actor) => auditShareOf(actor).length)).size).toBe(1);
  });
});
