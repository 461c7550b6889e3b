/**
 * Text functions that match Go's standard library, because stakater/Reloader reads users' texts with it. JavaScript's differ:
 * `trim` removes a byte order mark and keeps a next-line character.
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

/** Returns the entries of a comma-separated list, trimmed. Empty text has one empty entry, as in Go. */
export function splitList(value: string): string[] {
  work.listCharacters += value.length + 1;
  return value.split(',').map(trimSpace);
}
