import type { z } from 'zod';

type Issue = z.core.$ZodRawIssue;
type Said<Code extends Issue['code']> = (issue: Extract<Issue, { code: Code }>) => string | undefined;

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
};
/** Of what has a size, by the type. */
const UNITS: Readonly<Record<string, readonly [one: string, many: string]>> = {
  string: ['character', 'characters'],
  array: ['item', 'items'],
};

/**
 * Says what a request should have had, for schemas without words of their own: `safeParse(value, { error: issueWords })`. Of what was given
 * only the type, because the value could be a credential. Undefined: zod's words.
 */
export function issueWords(issue: Issue): string | undefined {
  return (SAID[issue.code] as Said<typeof issue.code> | undefined)?.(issue);
}

const SAID: { readonly [Code in Issue['code']]?: Said<Code> } = {
  invalid_type: ({ expected, input }) => `expected ${TYPES[expected] ?? expected}, given ${typeOf(input)}`,
  invalid_value: ({ values }) => oneOf(values),
  too_small: ({ origin, minimum }) => `expected at least ${amount(origin, minimum)}`,
  too_big: ({ origin, maximum }) => `expected at most ${amount(origin, maximum)}`,
  unrecognized_keys: ({ keys: [first] }) =>
    `nothing else than documented, given ${JSON.stringify(first)}`.slice(0, 300),
  invalid_key: ({ issues: [first] }) => `in a key: ${first?.message}`,
  invalid_union: ({ options }) => (Array.isArray(options) ? oneOf(options) : undefined),
};

function oneOf(values: readonly unknown[]): string {
  return `expected ${values.length === 1 ? '' : 'one of '}${values.map(String).join(', ')}`;
}

function amount(origin: string, count: number | bigint): string {
  const [one, many] = UNITS[origin] ?? [];
  const unit = count === 1 ? one : many;
  return unit === undefined ? String(count) : `${count} ${unit}`;
}

function typeOf(input: unknown): string {
  if (input === undefined) return 'nothing';
  if (input === null) return 'null';
  if (Array.isArray(input)) return 'a list';
  if (Number.isNaN(input)) return 'no number';
  return typeof input === 'boolean' ? 'a boolean' : (TYPES[typeof input] ?? typeof input);
}
