import { numberText } from './numbers.ts';
import { typeOf, type LuaValue } from './values.ts';

/** `tostring`. Tables and functions have no address here: all of a type look the same. */
export function tostring(value: LuaValue): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return numberText(value);
  if (typeof value === 'boolean') return String(value);
  return value === undefined ? 'nil' : `${typeOf(value)}: 0x0`;
}
