import { numberText } from './numbers.ts';
import { JSON_NULL, LuaFault, LuaTable, typeOf, type LuaValue } from './values.ts';

/** The library `cjson`, with the settings that Redis gives it. */

const SHORT: Readonly<Record<string, string>> = {
  '"': String.raw`\"`,
  '\\': String.raw`\\`,
  '/': String.raw`\/`,
  '\b': String.raw`\b`,
  '\t': String.raw`\t`,
  '\n': String.raw`\n`,
  '\f': String.raw`\f`,
  '\r': String.raw`\r`,
};
const MAX_DEPTH = 1000;
/** An array may have this many entries, or twice as many as there are values. */
const SAFE_LENGTH = 10;

export function encodeJson(value: LuaValue, depth = 0): string {
  switch (typeof value) {
    case 'string':
      return quote(value);
    case 'number':
      return numberJson(value);
    case 'boolean':
      return String(value);
    default:
      if (value === undefined || value === JSON_NULL) return 'null';
      if (value instanceof LuaTable) return tableJson(value, depth + 1);
      throw new LuaFault(`Cannot serialise ${typeOf(value)}: type not supported`);
  }
}

function quote(text: string): string {
  // oxlint-disable-next-line no-control-regex -- what cjson escapes
  const escaped = text.replaceAll(/["\\/\x00-\x1f\x7f]/g, (char) => {
    return SHORT[char] ?? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
  return `"${escaped}"`;
}

function numberJson(value: number): string {
  if (!Number.isFinite(value)) throw new LuaFault('Cannot serialise number: must not be NaN or Inf');
  return numberText(value);
}

function tableJson(table: LuaTable, depth: number): string {
  if (depth > MAX_DEPTH) throw new LuaFault(`Cannot serialise, excessively nested (${depth})`);
  const length = arrayLength(table);
  if (length > 0) {
    const items = Array.from({ length }, (_, at) => encodeJson(table.get(at + 1), depth));
    return `[${items.join(',')}]`;
  }
  const fields: string[] = [];
  for (const [key, value] of table.entries()) fields.push(`${keyJson(key)}:${encodeJson(value, depth)}`);
  return `{${fields.join(',')}}`;
}

function keyJson(key: LuaValue): string {
  if (typeof key === 'string') return quote(key);
  if (typeof key === 'number') return `"${numberJson(key)}"`;
  throw new LuaFault('Cannot serialise table: table key must be a number or string');
}

/** The highest key if all keys are positive integers, otherwise -1. */
function arrayLength(table: LuaTable): number {
  let highest = 0;
  let count = 0;
  for (const [key] of table.entries()) {
    if (typeof key !== 'number' || !Number.isInteger(key) || key < 1) return -1;
    highest = Math.max(highest, key);
    count++;
  }
  if (highest > count * 2 && highest > SAFE_LENGTH)
    throw new LuaFault('Cannot serialise table: excessively sparse array');
  return highest;
}

export function decodeJson(text: string): LuaValue {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text.includes(String.raw`\u`) ? withoutUnicodeEscapes(text) : text);
  } catch {
    throw new LuaFault('Expected value but found invalid token at character 1');
  }
  return luaOf(parsed);
}

const ESCAPE = /\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|[\s\S])/g;

/** A character beyond ASCII is the bytes of its UTF-8 in Lua. */
function withoutUnicodeEscapes(text: string): string {
  // oxlint-disable-next-line max-params -- the groups
  return text.replaceAll(ESCAPE, (escape, high?: string, low?: string, single?: string) => {
    const units = high === undefined ? [single] : [high, low];
    if (units[0] === undefined || Number.parseInt(units[0], 16) < 0x80) return escape;
    const char = String.fromCharCode(...units.map((unit) => Number.parseInt(unit ?? '', 16)));
    if (!char.isWellFormed()) throw new LuaFault('half of a character');
    return Buffer.from(char).toString('latin1');
  });
}

function luaOf(value: unknown): LuaValue {
  if (value === null) return JSON_NULL;
  if (typeof value !== 'object') return value;
  if (Array.isArray(value)) return new LuaTable(value.map(luaOf));
  const table = new LuaTable();
  for (const [key, each] of Object.entries(value)) table.set(key, luaOf(each));
  return table;
}
