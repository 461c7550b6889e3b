import { numberArgument } from '../args/values.ts';
import { CliError, usageError } from '../errors.ts';
import type { Session } from '../session.ts';

const MOST = 1_000_000;

/** `--limit`: undefined for all. */
export function limitOf(text: string): number | undefined {
  const limit = numberArgument('--limit', text, { least: 0, most: MOST });
  return limit === 0 ? undefined : limit;
}

/** `--limit` for all. */
export const NO_LIMIT = '0';

/** For commands that list or show one object. @throws a usage error for options that only the list heeds */
export function requireNoFilters<Options extends { readonly limit: string }>(
  options: Options,
  filters: readonly (keyof Options & string)[],
): void {
  const [first] = [
    ...filters.filter((name) => options[name] !== undefined),
    ...(options.limit === NO_LIMIT ? [] : ['limit']),
  ];
  if (first !== undefined) throw usageError(`expected --${first} only with a list, given a single object`);
}

/** The description of an empty list: `changes in the namespace shop`. */
export function nounIn(noun: string, namespace: string | undefined): string {
  return namespace === undefined ? noun : `${noun} in the namespace ${namespace}`;
}

/** For lists that the API cannot filter. @throws a usage error if a namespace was named: it would be ignored */
export function requireNoNamespace({ namedNamespace: namespace }: Session, why: string): void {
  if (namespace === undefined) return;
  throw usageError(`expected no --namespace: ${why}, given ${JSON.stringify(namespace)}`);
}

/** For what is named without its namespace. @throws a `CliError` if `-n` names another one than it has */
export function requireNamespace(
  { namedNamespace: named }: Session,
  what: string,
  namespace: string | undefined,
): void {
  if (named === undefined || namespace === undefined || named === namespace) return;
  throw new CliError(`${what} is of the namespace ${namespace}, not ${named}`);
}

/** The only word of a command that takes one. */
export function onlyWord(words: readonly string[], what: string): string {
  const [word, ...others] = words;
  if (word === undefined || others.length > 0)
    throw usageError(`expected ${what}, given ${JSON.stringify(words.join(' '))}`);
  return word;
}
