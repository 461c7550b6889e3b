/** Formats a line of the log as logrus does when it does not write to a terminal. */
import { escapeUnseen } from './escape-unseen.ts';

/** logrus quotes values with other characters, but not the empty value. */
const NEEDS_NO_QUOTES = /^[a-zA-Z0-9\-._/@^+]*$/u;

/** Go's short escapes that JSON does not know. */
const GO_ESCAPES: Readonly<Record<string, string>> = { '\\u0007': '\\a', '\\u000b': '\\v' };

/** Quotes as Go's `%q` does, except for unusual spaces, and characters beyond U+FFFF, which become two escapes. */
function quoted(text: string): string {
  const escaped = JSON.stringify(text)
    .replaceAll(/\\u00[01][0-9a-f]/gu, (escape) => GO_ESCAPES[escape] ?? `\\x${escape.slice(-2)}`)
    .replaceAll('\u007f', String.raw`\x7f`);
  return escapeUnseen(escaped);
}

function valueOf(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined');
  return NEEDS_NO_QUOTES.test(text) ? text : quoted(text);
}

/** Puts `time`, `level` and `msg` first, then the other fields by name. */
export function logfmt(record: Readonly<Record<string, unknown>>): string {
  const { time, level, msg, ...fields } = record;
  const rest = Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1));
  return [['time', time] as const, ['level', level] as const, ['msg', msg] as const, ...rest]
    .map(([key, value]) => `${key}=${valueOf(value)}`)
    .join(' ');
}
