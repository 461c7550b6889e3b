import { numberArgument } from '../args/values.ts';
import { usageError } from '../errors.ts';

const MOST = 1_000_000;

/** `--limit`: undefined for all. */
export function limitOf(text: string): number | undefined {
  const limit = numberArgument('--limit', text, { least: 0, most: MOST });
  return limit === 0 ? undefined : limit;
}

/** The description of an empty list: `changes in the namespace shop`. */
export function nounIn(noun: string, namespace: string | undefined): string {
  return namespace === undefined ? noun : `${noun} in the namespace ${namespace}`;
}

/** The only word of a command that takes one. */
export function onlyWord(words: readonly string[], what: string): string {
  const [word, ...others] = words;
  if (word === undefined || others.length > 0)
    throw usageError(`expected ${what}, given ${JSON.stringify(words.join(' '))}`);
  return word;
}
