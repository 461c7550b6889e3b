import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import { OPTION_LIST } from '@reroll/shared/platform/options/parsing/table';
import { complaintAbout, complaintAboutTitle, rowsOf, type Row } from './compatibility.ts';

const ROWS = rowsOf(readFileSync(join(import.meta.dirname, '../../docs/compatibility.md'), 'utf8'));

describe('docs/compatibility.md', () => {
  it.each(ROWS.map((row) => [row.line, row.behavior, row] as const))('line %i: %s', (_line, _text, row) => {
    expect(complaintAbout(row)).toBeUndefined();
  });

  const incumbent = OPTION_LIST.map(([, option]) => option).filter((option) => option.incumbent === true);
  it.each(incumbent.map(({ flag }) => flag))('has a row for %s', (flag) => {
    expect(ROWS.filter(({ behavior }) => behavior.startsWith(`\`${flag}\``))).toHaveLength(1);
  });
});

describe('a row', () => {
  const row: Row = { line: 1, behavior: 'A behavior', verdict: 'same', specs: [] };
  const here = '`tools/docs/compatibility.spec.ts` > a row';
  const cases: Readonly<Record<string, readonly [Partial<Row>, string]>> = {
    'that is the same, without a spec': [{}, 'expected a spec; given none'],
    'that is better, without saying how': [{ verdict: 'better', specs: [here] }, 'expected how it is better'],
    'with another word': [{ verdict: 'alike', specs: [here] }, 'expected a behavior and one of'],
    'that names a file that is not there': [
      { specs: ['`core/nothing.spec.ts` > a row'] },
      'expected the path of a spec',
    ],
    'that names a test that is not there': [
      { specs: [`${here}s`] },
      'expected a test or a group of tools/docs/compatibility.spec.ts',
    ],
    'of which one spec of two is not there': [{ specs: [here, `${here}s`] }, 'expected a test or a group'],
  };
  it.each(Object.entries(cases))('%s fails', (_, [changes, complaint]) => {
    expect(complaintAbout({ ...row, ...changes })).toContain(complaint);
  });

  it('that names what is there does not', () => {
    expect(complaintAbout({ ...row, specs: [here] })).toBeUndefined();
    expect(complaintAbout({ ...row, verdict: 'not yet' })).toBeUndefined();
  });

  it.each([
    ['skipped', "it.SKIP('a title', () => {});"],
    ['to be done', "it.TODO('a title', () => {});"],
    ['of a table that is skipped', "describe.SKIP.each([['a title', 1]])('%s', () => {});"],
    ['in a group that is skipped', "describe.SKIP('a group', () => { it('a title', () => {}); });"],
    ['skipped by an option', "it('a title', { SKIP: true }, () => {});"],
    ['skipped on some machines', "it.SKIPIF(true)('a title', () => {});"],
    ['beside one that alone runs', "it('a title', () => {}); it.ONLY('another', () => {});"],
    ['expected to fail', "it.FAILS('a title', () => {});"],
  ])('that names a test that is %s fails', (_, text) => {
    // In capitals above, lest this file be taken for one that skips.
    const source = text.replaceAll(/SKIPIF|[A-Z]{4,}/gu, (word) =>
      word === 'SKIPIF' ? 'skipIf' : word.toLowerCase(),
    );
    expect(complaintAboutTitle(source, 'a title')).toContain('expected a test that runs');
    expect(complaintAboutTitle(text.replaceAll(/\.[A-Z]+/gu, ''), 'a title')).toBeUndefined();
  });

  it('is read with its line, a bar in it, and all its specs', () => {
    const page = ['| Behavior | Reroll | Spec |', '|---|---|---|', '| `a\\|b` | same | x<br>y |'].join('\n');
    expect(rowsOf(page)).toEqual([{ line: 3, behavior: '`a|b`', verdict: 'same', specs: ['x', 'y'] }]);
  });
});
