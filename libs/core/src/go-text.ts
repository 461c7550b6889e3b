/**
 * Readings of text that must be those of Go's standard library, because what users wrote was read by it.
 * JavaScript's own differ: `trim` takes off a byte order mark and leaves a next-line character.
 */
import { work } from './work.ts';

/** Go's `unicode.IsSpace`. */
const SPACE = '[\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]';
const IS_SPACE = new RegExp(SPACE, 'u');

/** Go's `strings.TrimSpace`. */
export function trimSpace(value: string): string {
  let start = 0;
  let end = value.length;
  while (start < end && IS_SPACE.test(value.charAt(start))) start += 1;
  while (end > start && IS_SPACE.test(value.charAt(end - 1))) end -= 1;
  return value.slice(start, end);
}

/** The entries of a comma list, each trimmed. The empty text has one entry, the empty one, as in Go. */
export function splitList(value: string): string[] {
  work.listCharacters += value.length + 1;
  return value.split(',').map(trimSpace);
}
