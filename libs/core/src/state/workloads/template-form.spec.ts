import { describe, expect, it } from 'vitest';
import { areComparable, isSameTemplate, servedBy } from './template-form.ts';

describe('hashes of templates', () => {
  it.each<[string, [string | undefined, string | undefined], boolean]>([
    ['of one version can be compared', ['1.34', '1.34'], true],
    ['of two versions cannot', ['1.34', '1.35'], false],
    ['of a version that is not known can', [undefined, undefined], true],
    ['of a known and an unknown version cannot', ['1.34', undefined], false],
  ])('%s', (_sentence, [before, now], expected) => {
    expect(areComparable(servedBy(before, 'a'), servedBy(now, 'b'))).toBe(expected);
  });

  it('are the same if only the versions differ', () => {
    expect(isSameTemplate(servedBy('1.34', 'a'), servedBy('1.35', 'a'))).toBe(true);
    expect(isSameTemplate('a', servedBy('1.35', 'a'))).toBe(true);
    expect(isSameTemplate(servedBy('1.34', 'a'), servedBy('1.34', 'b'))).toBe(false);
  });

  it('that starts no pods stays empty', () => {
    expect(servedBy('1.34', '')).toBe('');
  });
});
