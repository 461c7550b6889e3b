import { expect, it } from 'vitest';
import { writeReason } from './common.ts';

it.each([
  [' rotated by hand ', 'rotated by hand'],
  ['half a \ud83d character', 'half a \ufffd character'],
  ['\udc00', '\ufffd'],
  ['a whole 😀 one', 'a whole 😀 one'],
])('the reason of a write is text that everybody can decode: %j', (given, expected) => {
  expect(writeReason.parse(given)).toBe(expected);
});
