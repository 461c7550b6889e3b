import { expect, it } from 'vitest';
import { oneLine } from './one-line.ts';

it.each<[string, string, string]>([
  ['words stay as they are', 'a new pool', 'a new pool'],
  ['blanks at the ends go', '  pool ', 'pool'],
  ['lines become one', 'one\r\ntwo\u2028three\n\n', 'one two three'],
  ['what steers a terminal goes', 'a\u001b[31mb\u0000c', 'a [31mb c'],
  ['what turns the writing goes', 'a\u202eb\u2066c', 'a b c'],
  ['half a character goes', 'a\ud800b', 'a b'],
  ['as much as is allowed stays', '0123456789abc', '0123456789abc'],
  ['more is cut', '0123456789abcd', '0123456789ab…'],
  ['no character is cut in two', '😀'.repeat(14), `${'😀'.repeat(12)}…`],
])('%s: %j', (_what, text, expected) => {
  expect(oneLine(text, 13)).toBe(expected);
});
