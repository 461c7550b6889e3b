import { NOT_FLOAT, NOT_INTEGER, RedisError, type Reply } from '../replies.ts';
import type { Database } from '../store/database.ts';

/** The arguments begin with the name of the command. */
export type Run = (db: Database, args: readonly string[]) => Reply;

export interface Command {
  /** As Redis counts: with the name; negative: at least so many. */
  readonly arity: number;
  /** `grow`: a write that a full Redis refuses. */
  readonly kind: 'read' | 'write' | 'grow';
  readonly run: Run;
}

export type Commands = Readonly<Record<string, Command>>;

export function read(arity: number, run: Run): Command {
  return { arity, kind: 'read', run };
}

export function write(arity: number, run: Run): Command {
  return { arity, kind: 'write', run };
}

export function grow(arity: number, run: Run): Command {
  return { arity, kind: 'grow', run };
}

/** The argument at a position; the arity has been checked. */
export function at(args: readonly string[], position: number): string {
  const text = args[position];
  if (text === undefined) throw new RedisError('ERR syntax error');
  return text;
}

const INTEGER = /^(?:0|-?[1-9]\d{0,18})$/u;

export function integer(text: string, message = NOT_INTEGER): number {
  if (!INTEGER.test(text)) throw new RedisError(message);
  return Number(text);
}

export function float(text: string, message = NOT_FLOAT): number {
  const value = parseFloatText(text);
  if (value === undefined) throw new RedisError(message);
  return value;
}

/** The result of adding to a number with a fraction, as it is stored. */
export function sumText(value: number): string {
  if (!Number.isFinite(value)) throw new RedisError('ERR increment would produce NaN or Infinity');
  return String(value);
}

function parseFloatText(text: string): number | undefined {
  const special = /^([+-]?)inf(?:inity)?$/iu.exec(text);
  if (special) return special[1] === '-' ? -Infinity : Infinity;
  return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/iu.test(text) ? Number(text) : undefined;
}

/** Start and stop (both included, negative from the end) as begin and end. */
export function rangeOf(length: number, start: number, stop: number): [number, number] {
  const begin = Math.max(0, start < 0 ? length + start : start);
  const end = Math.min(length, (stop < 0 ? length + stop : stop) + 1);
  return [begin, Math.max(begin, end)];
}

export function syntaxError(): RedisError {
  return new RedisError('ERR syntax error');
}

/** Redis' patterns of keys: `*`, `?`, `[a-z]`, `[^a]`, and a backslash before a plain character. */
export function globMatcher(pattern: string): (text: string) => boolean {
  const source = pattern.replaceAll(
    /\\([\s\S])|\[(\^?)((?:\\.|[^\]\\])*)\]|([*?])|([\s\S])/gu,
    // oxlint-disable-next-line max-params -- the groups
    (_, escaped?: string, not?: string, set?: string, wild?: string, plain?: string) => {
      if (wild !== undefined) return wild === '*' ? String.raw`[\s\S]*` : String.raw`[\s\S]`;
      if (set !== undefined) return `[${not ?? ''}${set.replaceAll('[', String.raw`\[`)}]`;
      return (escaped ?? plain ?? '').replaceAll(/[\^$\\.*+?()[\]{}|]/gu, String.raw`\$&`);
    },
  );
  const expression = new RegExp(`^${source}$`);
  return (text) => expression.test(text);
}

/** The parts of `SCAN` and its kin behind the cursor. Everything is answered at once, with the cursor 0. */
export function scanned(all: readonly string[], options: readonly string[], width = 1): Reply {
  let isMatch: ((text: string) => boolean) | undefined;
  for (let index = 0; index < options.length; index += 2) {
    const name = at(options, index).toUpperCase();
    if (name === 'MATCH') isMatch = globMatcher(at(options, index + 1));
    else if (name !== 'COUNT') throw syntaxError();
  }
  if (!isMatch) return ['0', all];
  const found: string[] = [];
  for (let index = 0; index < all.length; index += width)
    if (isMatch(at(all, index))) found.push(...all.slice(index, index + width));
  return ['0', found];
}
