import { toNumber } from './operators.ts';
import { numberText } from './numbers.ts';
import { LuaFault, LuaTable, typeOf, type LuaValue } from './values.ts';

/** Reads the arguments of a library function, with Lua's errors. Positions count from 1. */

function badArgument(position: number, value: LuaValue, expected: string): LuaFault {
  const got = value === undefined ? 'no value' : typeOf(value);
  return new LuaFault(`bad argument #${position} (${expected} expected, got ${got})`);
}

export function textArgument(value: LuaValue, position: number): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return numberText(value);
  throw badArgument(position, value, 'string');
}

export function numberArgument(value: LuaValue, position: number): number {
  const number = toNumber(value);
  if (number === undefined) throw badArgument(position, value, 'number');
  return number;
}

/** Without a fraction, as C casts it. */
export function integerArgument(value: LuaValue, position: number, fallback?: number): number {
  if (value === undefined && fallback !== undefined) return fallback;
  return Math.trunc(numberArgument(value, position));
}

export function tableArgument(value: LuaValue, position: number): LuaTable {
  if (value instanceof LuaTable) return value;
  throw badArgument(position, value, 'table');
}
