import { tableArgument } from './arguments.ts';
import { CONSTANTS, FUNCTIONS, LIBRARIES } from './library.ts';
import {
  add,
  callable,
  concat,
  divide,
  length,
  less,
  lessOrEqual,
  loopNumber,
  modulo,
  multiply,
  negate,
  power,
  setIndex,
  subtract,
} from './operators.ts';
import { STRING_LIBRARY } from './string-library.ts';
import { every, first, LuaError, LuaFault, LuaTable, multi, typeOf, type LuaValue } from './values.ts';

function index(value: LuaValue, key: LuaValue): LuaValue {
  if (value instanceof LuaTable) return value.get(key);
  if (typeof value === 'string') return STRING_LIBRARY[String(key)];
  throw new LuaFault(`attempt to index a ${typeOf(value)} value`);
}

function invoke(value: LuaValue, name: string, ...args: LuaValue[]): LuaValue {
  return callable(index(value, name))(value, ...args);
}

function tableWith(values: LuaValue[], keyed: readonly LuaValue[]): LuaTable {
  const table = new LuaTable(values);
  for (let at = 0; at < keyed.length; at += 2) table.set(keyed[at], keyed[at + 1]);
  return table;
}

/** `error`, which puts the position before a text. */
// oxlint-disable-next-line max-params -- the line, and Lua's arguments
function raise(line: number, value: LuaValue, level?: LuaValue): never {
  throw new LuaError(typeof value === 'string' && level !== 0 ? `user_script:${line}: ${value}` : value);
}

/** All that generated code may name. */
export const RUNTIME = {
  NONE: multi([]),
  LuaTable,
  add,
  base: FUNCTIONS,
  concat,
  constants: CONSTANTS,
  divide,
  entriesOf: (value: LuaValue) => tableArgument(value, 1).entries(),
  every,
  first,
  greater: (a: LuaValue, b: LuaValue) => less(b, a),
  greaterOrEqual: (a: LuaValue, b: LuaValue) => lessOrEqual(b, a),
  index,
  invoke,
  isTrue: (value: LuaValue) => value !== undefined && value !== false,
  length,
  less,
  lessOrEqual,
  libraries: LIBRARIES,
  loopNumber,
  modulo,
  multi,
  multiply,
  negate,
  power,
  raise,
  setIndex,
  subtract,
  tableOf: (value: LuaValue) => tableArgument(value, 1),
  tableWith,
};
