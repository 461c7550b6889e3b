import { createHash } from 'node:crypto';
import { integerArgument, numberArgument, tableArgument, textArgument } from './arguments.ts';
import { decodeJson, encodeJson } from './json.ts';
import { pack, unpackAll } from './msgpack.ts';
import { callable, less, toNumber, type LuaFunction } from './operators.ts';
import { STRING_LIBRARY } from './string-library.ts';
import { tostring } from './tostring.ts';
import {
  every,
  first,
  JSON_NULL,
  LuaError,
  LuaFault,
  LuaTable,
  multi,
  typeOf,
  type LuaValue,
} from './values.ts';

/** The functions without a library. */
const BASE: Readonly<Record<string, LuaFunction>> = {
  type: (...values) => {
    if (values.length === 0) throw new LuaFault("bad argument #1 to 'type' (value expected)");
    return typeOf(values[0]);
  },
  tostring,
  tonumber: (value, base) => {
    if (base === undefined || base === 10) return toNumber(value);
    return inBase(textArgument(value, 1), integerArgument(base, 2));
  },
  pairs: (table) => {
    const entries = tableArgument(table, 1).entries();
    return () => {
      const { value } = entries.next();
      return value ? multi(value as [LuaValue, LuaValue]) : undefined;
    };
  },
  ipairs: (value) => {
    const table = tableArgument(value, 1);
    let at = 0;
    return () => {
      at++;
      const item = table.get(at);
      return item === undefined ? undefined : multi([at, item]);
    };
  },
  next: (table, key) => {
    let isNext = key === undefined;
    for (const entry of tableArgument(table, 1).entries()) {
      if (isNext) return multi(entry);
      isNext = entry[0] === key;
    }
    return undefined;
  },
  select: (which, ...values) => {
    if (which === '#') return values.length;
    const from = integerArgument(which, 1);
    if (from === 0 || from < -values.length)
      throw new LuaFault("bad argument #1 to 'select' (index out of range)");
    return multi(from < 0 ? values.slice(from) : values.slice(from - 1));
  },
  unpack: (table, from, to) => unpacked(tableArgument(table, 1), from, to),
  assert: (...values) => {
    if (values[0] === undefined || values[0] === false)
      throw new LuaFault(values.length > 1 ? tostring(values[1]) : 'assertion failed!');
    return multi(values);
  },
  error: (value) => {
    throw new LuaError(value);
  },
  rawget: (table, key) => tableArgument(table, 1).get(key),
  rawset: (table, key, value) => {
    tableArgument(table, 1).set(key, value);
    return table;
  },
  rawequal: (a, b) => a === b,
  pcall: (action, ...args) => {
    try {
      return multi([true, ...every(callable(action)(...args))]);
    } catch (error) {
      return multi([false, caught(errorValue(error, !IN_LIBRARIES.has(action)))]);
    }
  },
};

/** As Redis since version 7, whose commands raise tables: their text is what the caller gets. */
function caught(value: LuaValue): LuaValue {
  const text = value instanceof LuaTable ? value.get('err') : undefined;
  return typeof text === 'string' ? text : value;
}

/**
 * The value of an error; a defect of this program is thrown on. Texts of operators and library functions get the position (always
 * 0 here) unless `pcall` called the function itself.
 */
export function errorValue(error: unknown, isInScript = true): LuaValue {
  if (error instanceof LuaError && !(error instanceof LuaFault)) return error.value;
  const position = isInScript ? 'user_script:0: ' : '';
  return position + faultOf(error);
}

function faultOf(error: unknown): string {
  if (error instanceof LuaFault) return error.message;
  if (error instanceof RangeError) return 'stack overflow';
  // Generated code calls values as functions without a look at them.
  if (error instanceof TypeError && error.message.includes('is not a function'))
    return 'attempt to call a value that is no function';
  throw error;
}

function unpacked(table: LuaTable, from: LuaValue, to: LuaValue): LuaValue {
  if (from === undefined && to === undefined) return multi(table.items.slice());
  const end = integerArgument(to, 3, table.length);
  const values: LuaValue[] = [];
  for (let at = integerArgument(from, 2, 1); at <= end; at++) values.push(table.get(at));
  return multi(values);
}

function inBase(text: string, base: number): number | undefined {
  const digits = text.trim().toLowerCase();
  const isValid = digits.split('').every((digit) => {
    const value = Number.parseInt(digit, 36);
    return value < base;
  });
  return isValid && digits !== '' ? Number.parseInt(digits, base) : undefined;
}

const TABLE: Readonly<Record<string, LuaFunction>> = {
  insert: (...args) => {
    const [value, at, item] = args;
    const table = tableArgument(value, 1);
    if (args.length === 2) table.set(table.length + 1, at);
    else insertAt(table, integerArgument(at, 2), item);
  },
  remove: (value, at) => {
    const table = tableArgument(value, 1);
    const position = integerArgument(at, 2, table.length);
    if (position < 1 || position > table.length) return undefined;
    const [item] = table.items.splice(position - 1, 1);
    return item;
  },
  // oxlint-disable-next-line max-params -- Lua's arguments
  concat: (value, separator, from, to) => {
    const table = tableArgument(value, 1);
    const end = integerArgument(to, 4, table.length);
    const parts: string[] = [];
    for (let at = integerArgument(from, 3, 1); at <= end; at++) parts.push(joinable(table, at));
    return parts.join(separator === undefined ? '' : textArgument(separator, 2));
  },
  sort: (value, isBefore) => {
    const compare = isBefore === undefined ? less : callable(isBefore);
    const isLess = (a: LuaValue, b: LuaValue): boolean => {
      const result = first(compare(a, b));
      return result !== undefined && result !== false;
    };
    tableArgument(value, 1).items.sort((a, b) => (isLess(a, b) ? -1 : Number(isLess(b, a))));
  },
  getn: (value) => tableArgument(value, 1).length,
  maxn: (value) => {
    let highest = 0;
    for (const [key] of tableArgument(value, 1).entries())
      if (typeof key === 'number') highest = Math.max(highest, key);
    return highest;
  },
};

function insertAt(table: LuaTable, position: number, item: LuaValue): void {
  if (position < 1 || position > table.length + 1) table.set(position, item);
  else table.items.splice(position - 1, 0, item);
}

function joinable(table: LuaTable, at: number): string {
  const item = table.get(at);
  if (typeof item === 'string' || typeof item === 'number') return tostring(item);
  throw new LuaFault(`invalid value (${typeOf(item)}) at index ${at} in table for 'concat'`);
}

const number1 =
  (action: (value: number) => number): LuaFunction =>
  (value) =>
    action(numberArgument(value, 1));
const numbers =
  (action: (...values: number[]) => number): LuaFunction =>
  (...values) =>
    action(
      numberArgument(values[0], 1),
      ...values.slice(1).map((value, at) => numberArgument(value, at + 2)),
    );

const MATH: Readonly<Record<string, LuaFunction>> = {
  abs: number1(Math.abs),
  ceil: number1(Math.ceil),
  floor: number1(Math.floor),
  sqrt: number1(Math.sqrt),
  exp: number1(Math.exp),
  log: number1(Math.log),
  log10: number1(Math.log10),
  max: numbers(Math.max),
  min: numbers(Math.min),
  pow: numbers((x = 0, y = 0) => x ** y),
  fmod: numbers((x = 0, y = 0) => x % y),
  modf: (value) => {
    const number = numberArgument(value, 1);
    return multi([Math.trunc(number), number - Math.trunc(number)]);
  },
};

const CJSON: Readonly<Record<string, LuaFunction>> = {
  encode: (value) => encodeJson(value),
  decode: (text) => decodeJson(textArgument(text, 1)),
};

const CMSGPACK: Readonly<Record<string, LuaFunction>> = {
  pack: (...values) => pack(values),
  unpack: (text) => unpackAll(textArgument(text, 1)),
};

const to32 = (value: LuaValue, position: number): number =>
  Number(BigInt.asIntN(32, BigInt(Math.trunc(numberArgument(value, position)))));
const bits =
  (action: (a: number, b: number) => number): LuaFunction =>
  (...values) =>
    values.map((value, at) => to32(value, at + 1)).reduce(action) | 0;

const BIT: Readonly<Record<string, LuaFunction>> = {
  tobit: (value) => to32(value, 1),
  band: bits((a, b) => a & b),
  bor: bits((a, b) => a | b),
  bxor: bits((a, b) => a ^ b),
  bnot: (value) => ~to32(value, 1),
  lshift: (value, count) => to32(value, 1) << to32(count, 2),
  rshift: (value, count) => (to32(value, 1) >>> to32(count, 2)) | 0,
};

/** What a script finds, except for `redis`, `os`, `KEYS` and `ARGV`, which belong to a call. */
export const FUNCTIONS = BASE;
export const LIBRARIES: Readonly<Record<string, Readonly<Record<string, LuaFunction>>>> = {
  string: STRING_LIBRARY,
  table: TABLE,
  math: MATH,
  cjson: CJSON,
  cmsgpack: CMSGPACK,
  bit: BIT,
};
const IN_LIBRARIES: ReadonlySet<LuaValue> = new Set(
  [BASE, ...Object.values(LIBRARIES)].flatMap((library) => Object.values(library)),
);
export const CONSTANTS: Readonly<Record<string, Readonly<Record<string, LuaValue>>>> = {
  cjson: { null: JSON_NULL },
  math: { pi: Math.PI, huge: Infinity },
};

export function sha1Hex(text: string): string {
  return createHash('sha1').update(text, 'latin1').digest('hex');
}
