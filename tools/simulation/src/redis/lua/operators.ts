import { numberText, parseNumber } from './numbers.ts';
import { LuaFault, LuaTable, typeOf, type LuaValue } from './values.ts';

/** The operators of Lua, as the generated code calls them. */

export function toNumber(value: LuaValue): number | undefined {
  if (typeof value === 'number') return value;
  return typeof value === 'string' ? parseNumber(value) : undefined;
}

function operand(value: LuaValue): number {
  const number = toNumber(value);
  if (number === undefined) throw new LuaFault(`attempt to perform arithmetic on a ${typeOf(value)} value`);
  return number;
}

export function add(a: LuaValue, b: LuaValue): number {
  return typeof a === 'number' && typeof b === 'number' ? a + b : operand(a) + operand(b);
}

export function subtract(a: LuaValue, b: LuaValue): number {
  return typeof a === 'number' && typeof b === 'number' ? a - b : operand(a) - operand(b);
}

export function multiply(a: LuaValue, b: LuaValue): number {
  return typeof a === 'number' && typeof b === 'number' ? a * b : operand(a) * operand(b);
}

export function divide(a: LuaValue, b: LuaValue): number {
  return operand(a) / operand(b);
}

export function modulo(a: LuaValue, b: LuaValue): number {
  const x = operand(a);
  const y = operand(b);
  return x - Math.floor(x / y) * y;
}

export function power(a: LuaValue, b: LuaValue): number {
  return operand(a) ** operand(b);
}

export function negate(value: LuaValue): number {
  return -operand(value);
}

export function concat(a: LuaValue, b: LuaValue): string {
  return typeof a === 'string' && typeof b === 'string' ? a + b : part(a) + part(b);
}

function part(value: LuaValue): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return numberText(value);
  throw new LuaFault(`attempt to concatenate a ${typeOf(value)} value`);
}

export function length(value: LuaValue): number {
  if (typeof value === 'string' || value instanceof LuaTable) return value.length;
  throw new LuaFault(`attempt to get length of a ${typeOf(value)} value`);
}

export function less(a: LuaValue, b: LuaValue): boolean {
  if (typeof a === 'number' && typeof b === 'number') return a < b;
  if (typeof a === 'string' && typeof b === 'string') return a < b;
  throw notComparable(a, b);
}

export function lessOrEqual(a: LuaValue, b: LuaValue): boolean {
  if (typeof a === 'number' && typeof b === 'number') return a <= b;
  if (typeof a === 'string' && typeof b === 'string') return a <= b;
  throw notComparable(a, b);
}

function notComparable(a: LuaValue, b: LuaValue): LuaFault {
  const [one, other] = [typeOf(a), typeOf(b)];
  return new LuaFault(
    one === other ? `attempt to compare two ${one} values` : `attempt to compare ${one} with ${other}`,
  );
}

export function setIndex(table: LuaValue, key: LuaValue, value: LuaValue): void {
  if (!(table instanceof LuaTable)) throw new LuaFault(`attempt to index a ${typeOf(table)} value`);
  table.set(key, value);
}

export type LuaFunction = (...args: LuaValue[]) => LuaValue;

export function callable(value: LuaValue): LuaFunction {
  if (typeof value === 'function') return value as LuaFunction;
  throw new LuaFault(`attempt to call a ${typeOf(value)} value`);
}

/** The start, limit or step of a numeric `for`. */
export function loopNumber(value: LuaValue, what: string): number {
  const number = toNumber(value);
  if (number === undefined) throw new LuaFault(`'for' ${what} must be a number`);
  return number;
}
