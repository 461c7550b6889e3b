import { expect, it } from 'vitest';
import { DEFAULT_ANNOTATION_KEYS } from '@reroll/core/annotations/annotation-keys';
import { DEFAULT_ANNOTATION_LIMITS as limits } from '@reroll/core/annotations/annotation-limits';
import { decisionSettings } from './decision-settings.ts';
import { parseOptions } from './parsing/parse.ts';
import { OPTION_LIST } from './parsing/table.ts';

function keysWith(argv: readonly string[]): unknown {
  const parsed = parseOptions('worker', argv, {});
  return parsed.ok ? decisionSettings(parsed.options).keys : parsed.errors;
}

it('without flags, every annotation key is that of stakater/Reloader', () => {
  expect(keysWith([])).toEqual({ ...DEFAULT_ANNOTATION_KEYS, limits });
});

const KEYS = Object.entries(DEFAULT_ANNOTATION_KEYS);

it.each(KEYS)('the key %s (%s) can be set, and no other changes with it', (name, initial) => {
  const found = OPTION_LIST.map(([, spec]) => spec).filter((spec) => spec.default === initial);
  expect(found.length).toBe(1);
  const flags = found.map(({ flag }) => `${flag}=example.com/mine`);
  expect(keysWith(flags)).toEqual({ ...DEFAULT_ANNOTATION_KEYS, limits, [name]: 'example.com/mine' });
});

it('the key that is written cannot be empty', () => {
  expect(keysWith(['--last-reloaded-from-annotation='])).toEqual([
    '--last-reloaded-from-annotation: expected the key of an annotation such as example.com/reload; given ""',
  ]);
});
