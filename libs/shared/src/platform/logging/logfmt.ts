/** One line of log as logrus writes it when it does not write to a terminal. */

/** logrus quotes a value that holds anything else. The empty value is not quoted. */
const NEEDS_NO_QUOTES = /^[a-zA-Z0-9\-._/@^+]*$/u;

/** Go's short escapes that JSON does not know. */
const GO_ESCAPES: Readonly<Record<string, string>> = { '\\u0007': '\\a', '\\u000b': '\\v' };

/** As Go's `%q`. */
function quoted(text: string): string {
  return JSON.stringify(text)
    .replaceAll(/\\u00[01][0-9a-f]/gu, (escape) => GO_ESCAPES[escape] ?? `\\x${escape.slice(-2)}`)
    .replaceAll('\u007f', String.raw`\x7f`);
}

function valueOf(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined');
  return NEEDS_NO_QUOTES.test(text) ? text : quoted(text);
}

/** `time`, `level` and `msg` come first, the other fields by name. */
export function logfmt(record: Readonly<Record<string, unknown>>): string {
  const { time, level, msg, ...fields } = record;
  const rest = Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1));
  return [['time', time] as const, ['level', level] as const, ['msg', msg] as const, ...rest]
    .map(([key, value]) => `${key}=${valueOf(value)}`)
    .join(' ');
}
