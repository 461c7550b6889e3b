import { integerArgument, numberArgument, textArgument } from './arguments.ts';
import { formatExponent, formatGeneral, notFinite } from './numbers.ts';
import { callable, type LuaFunction } from './operators.ts';
import { capturesOf, findMatch, type Match } from './patterns.ts';
import { first, LuaFault, LuaTable, multi, typeOf, type LuaValue } from './values.ts';
import { tostring } from './tostring.ts';

/** The library `string`. */
export const STRING_LIBRARY: Readonly<Record<string, LuaFunction>> = {
  len: (text) => textArgument(text, 1).length,
  lower: (text) => textArgument(text, 1).replaceAll(/[A-Z]/g, (char) => char.toLowerCase()),
  upper: (text) => textArgument(text, 1).replaceAll(/[a-z]/g, (char) => char.toUpperCase()),
  rep: (text, count) => textArgument(text, 1).repeat(Math.max(0, integerArgument(count, 2))),
  reverse: (text) => textArgument(text, 1).split('').reverse().join(''),
  sub: (value, from, to) => {
    const text = textArgument(value, 1);
    const [begin, end] = range(text.length, integerArgument(from, 2), integerArgument(to, 3, -1));
    return text.slice(begin, end);
  },
  byte: (value, from, to) => {
    const text = textArgument(value, 1);
    const at = integerArgument(from, 2, 1);
    const [begin, end] = range(text.length, at, integerArgument(to, 3, at));
    const bytes: number[] = [];
    for (let index = begin; index < end; index++) bytes.push(text.charCodeAt(index));
    return multi(bytes);
  },
  char: (...codes) =>
    codes
      .map((code, at) => {
        const byte = integerArgument(code, at + 1);
        if (byte < 0 || byte > 255) throw new LuaFault(`bad argument #${at + 1} to 'char' (invalid value)`);
        return String.fromCharCode(byte);
      })
      .join(''),
  // oxlint-disable-next-line max-params -- Lua's arguments
  find: (value, pattern, from, isPlain) => {
    const text = textArgument(value, 1);
    const sought = textArgument(pattern, 2);
    const start = startOf(text, from);
    if ((isPlain !== undefined && isPlain !== false) || !/[\^$*+?.([%-]/.test(sought)) {
      const at = text.indexOf(sought, start);
      return at < 0 ? undefined : multi([at + 1, at + sought.length]);
    }
    const match = findMatch(text, sought, start);
    if (!match) return undefined;
    const captures = match.captures.length > 0 ? capturesOf(text, match) : [];
    return multi([match.start + 1, match.end, ...captures]);
  },
  match: (value, pattern, from) => {
    const text = textArgument(value, 1);
    const start = startOf(text, from);
    const match = findMatch(text, textArgument(pattern, 2), start);
    return match ? multi(capturesOf(text, match)) : undefined;
  },
  gmatch: (value, pattern) => {
    const text = textArgument(value, 1);
    const sought = textArgument(pattern, 2);
    let at = 0;
    return () => {
      const match = findMatch(text, sought.startsWith('^') ? `%${sought}` : sought, at);
      if (!match) return undefined;
      at = match.end > match.start ? match.end : match.end + 1;
      return multi(capturesOf(text, match));
    };
  },
  // oxlint-disable-next-line max-params -- Lua's arguments
  gsub: (value, pattern, replacement, most) =>
    substitute(textArgument(value, 1), textArgument(pattern, 2), {
      replace: replacerOf(replacement),
      most: most === undefined ? Infinity : integerArgument(most, 4),
    }),
  format: (format, ...args) => formatted(textArgument(format, 1), args),
};

/** Where a search begins, from 0. */
function startOf(text: string, from: LuaValue): number {
  const at = integerArgument(from, 3, 1);
  return at < 0 ? Math.max(0, text.length + at) : Math.min(text.length, Math.max(0, at - 1));
}

/** Lua's positions from and to, as begin and end from 0. */
function range(length: number, from: number, to: number): [number, number] {
  const begin = from < 0 ? Math.max(0, length + from) : Math.max(0, from - 1);
  const end = to < 0 ? length + to + 1 : Math.min(length, to);
  return [begin, Math.max(begin, end)];
}

type Replacer = (text: string, match: Match) => LuaValue;

function replacerOf(replacement: LuaValue): Replacer {
  if (replacement instanceof LuaTable) return (text, match) => replacement.get(capturesOf(text, match)[0]);
  if (typeof replacement === 'function')
    return (text, match) => first(callable(replacement)(...capturesOf(text, match)));
  if (typeof replacement !== 'string' && typeof replacement !== 'number')
    throw new LuaFault(
      `bad argument #3 to 'gsub' (string/function/table expected, got ${typeOf(replacement)})`,
    );
  const format = String(replacement);
  return (text, match) =>
    format.replaceAll(/%([\s\S]?)/g, (_, name: string) => {
      if (name === '0') return text.slice(match.start, match.end);
      if (!/[1-9]/.test(name)) return name;
      const capture = capturesOf(text, match)[Number(name) - 1];
      if (capture === undefined) throw new LuaFault('invalid capture index');
      return tostring(capture);
    });
}

function substitute(
  text: string,
  pattern: string,
  { replace, most }: { replace: Replacer; most: number },
): LuaValue {
  let result = '';
  let count = 0;
  let at = 0;
  while (count < most && at <= text.length) {
    const match = findMatch(text, pattern, at);
    if (!match) break;
    count++;
    result += text.slice(at, match.start) + replaced(text, match, replace);
    at = match.end;
    if (match.end === match.start) {
      result += text.slice(at, at + 1);
      at++;
    }
    if (pattern.startsWith('^')) break;
  }
  return multi([result + text.slice(at), count]);
}

function replaced(text: string, match: Match, replace: Replacer): string {
  const value = replace(text, match);
  if (value === undefined || value === false) return text.slice(match.start, match.end);
  if (typeof value === 'string' || typeof value === 'number') return tostring(value);
  throw new LuaFault(`invalid replacement value (a ${typeOf(value)})`);
}

const DIRECTIVE = /%([-+ #0]*)(\d*)(?:\.(\d*))?([a-zA-Z%])/g;

function formatted(format: string, args: readonly LuaValue[]): string {
  let next = 0;
  return format.replaceAll(
    DIRECTIVE,
    // oxlint-disable-next-line max-params -- the groups
    (_, flags: string, width: string, precision: string | undefined, kind: string) => {
      if (kind === '%') return '%';
      next++;
      if (next > args.length) throw new LuaFault(`bad argument #${next + 1} to 'format' (no value)`);
      const digits = precision === undefined ? undefined : Number(precision);
      const text = converted(kind, { value: args[next - 1], position: next + 1, flags, digits });
      return padded(text, { flags, width: Number(width), isNumber: !'sqc'.includes(kind) });
    },
  );
}

interface Conversion {
  readonly value: LuaValue;
  readonly position: number;
  readonly flags: string;
  readonly digits: number | undefined;
}

function converted(kind: string, { value, position, flags, digits }: Conversion): string {
  if (kind === 's') return tostring(value).slice(0, digits);
  if (kind === 'q') return quoted(textArgument(value, position));
  const number = numberArgument(value, position);
  if (kind === 'c') return String.fromCharCode(number % 256);
  const text = NUMBERS[kind]?.(number, digits);
  if (text === undefined) throw new LuaFault(`invalid option '%${kind}' to 'format'`);
  if (number < 0 || Number.isNaN(number)) return text;
  if (flags.includes('+')) return `+${text}`;
  return flags.includes(' ') ? ` ${text}` : text;
}

type Formatter = (value: number, digits: number | undefined) => string;

const whole: Formatter = (value, digits = 1) => {
  const text = String(BigInt(Math.trunc(Math.abs(value)))).padStart(digits, '0');
  return value <= -1 ? `-${text}` : text;
};
const based =
  (base: number): Formatter =>
  (value, digits = 1) =>
    BigInt.asUintN(64, BigInt(Math.trunc(value)))
      .toString(base)
      .padStart(digits, '0');

const NUMBERS: Readonly<Record<string, Formatter>> = {
  d: whole,
  i: whole,
  u: whole,
  x: based(16),
  X: (value, digits) => based(16)(value, digits).toUpperCase(),
  o: based(8),
  e: (value, digits = 6) => formatExponent(value, digits),
  E: (value, digits = 6) => formatExponent(value, digits).toUpperCase(),
  f: (value, digits = 6) => (Number.isFinite(value) ? value.toFixed(digits) : notFinite(value)),
  g: (value, digits = 6) => formatGeneral(value, digits),
  G: (value, digits = 6) => formatGeneral(value, digits).toUpperCase(),
};

function padded(
  text: string,
  { flags, width, isNumber }: { flags: string; width: number; isNumber: boolean },
): string {
  if (flags.includes('-')) return text.padEnd(width);
  if (!flags.includes('0') || !isNumber) return text.padStart(width);
  const sign = /^[+\- ]/.exec(text)?.[0] ?? '';
  return sign + text.slice(sign.length).padStart(width - sign.length, '0');
}

function quoted(text: string): string {
  const escaped = text.replaceAll(/["\\\n\r\0]/g, (char) => {
    if (char === '\r') return String.raw`\r`;
    return char === '\0' ? String.raw`\000` : `\\${char}`;
  });
  return `"${escaped}"`;
}
