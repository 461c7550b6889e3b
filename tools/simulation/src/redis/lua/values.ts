/**
 * Lua's values in JavaScript: nil is undefined; booleans, numbers and functions are themselves. A string is a JavaScript string
 * with one character (0 to 255) a byte, so that lengths, positions and the order of strings are those of bytes.
 */
export type LuaValue = unknown;

/** What a Lua function returns if it is not exactly one value. */
export class Multi {
  readonly values: readonly LuaValue[];

  constructor(values: readonly LuaValue[]) {
    this.values = values;
  }
}

/** Returns these values from a Lua function. The array must not change afterwards. */
export function multi(values: readonly LuaValue[]): LuaValue {
  return values.length === 1 ? values[0] : new Multi(values);
}

/** The value of a call where exactly one is wanted. */
export function first(result: LuaValue): LuaValue {
  return result instanceof Multi ? result.values[0] : result;
}

/** All values of a call. */
export function every(result: LuaValue): readonly LuaValue[] {
  return result instanceof Multi ? result.values : [result];
}

/** An error raised by a script or by a command in it. */
export class LuaError extends Error {
  override readonly name = 'LuaError';
  /** What `pcall` returns: a string, or a table with the field `err`. */
  readonly value: LuaValue;

  constructor(value: LuaValue) {
    super(typeof value === 'string' ? value : 'error in a Lua script');
    this.value = value;
  }
}

/** An error of an operator or of a library function: a text, before which Lua puts the position in the script. */
export class LuaFault extends LuaError {}

/** `cjson.null`, a light userdata. */
export const JSON_NULL = Object.freeze({ userdata: 'null' });

/** A table: values 1 to n in an array, all others in a map, in the order in which they were set. */
export class LuaTable {
  /** Index 0 holds the value of key 1. The last one is never nil. */
  readonly items: LuaValue[];
  #rest: Map<LuaValue, LuaValue> | undefined;

  constructor(items: LuaValue[] = []) {
    this.items = items;
    if (items.length > 0 && items.at(-1) === undefined) this.#trim();
  }

  get(key: LuaValue): LuaValue {
    if (typeof key === 'number' && key > 0 && key <= this.items.length && Number.isInteger(key))
      return this.items[key - 1];
    return this.#rest?.get(key);
  }

  set(key: LuaValue, value: LuaValue): void {
    if (typeof key === 'number' && key > 0 && key <= this.items.length + 1 && Number.isInteger(key))
      this.#setItem(key, value);
    else if (value === undefined) this.#rest?.delete(key);
    else if (key === undefined) throw new LuaFault('table index is nil');
    else if (Number.isNaN(key)) throw new LuaFault('table index is NaN');
    else (this.#rest ??= new Map()).set(key, value);
  }

  /** Sets a value and returns this table. */
  with(key: LuaValue, value: LuaValue): this {
    this.set(key, value);
    return this;
  }

  get length(): number {
    return this.items.length;
  }

  /** The values outside of 1 to n. */
  get rest(): ReadonlyMap<LuaValue, LuaValue> | undefined {
    return this.#rest;
  }

  /** Keys and values as `pairs` gives them. The table may lose values meanwhile. */
  *entries(): Generator<[LuaValue, LuaValue]> {
    for (let at = 0; at < this.items.length; at++) {
      const item = this.items[at];
      if (item !== undefined) yield [at + 1, item];
    }
    if (this.#rest) yield* this.#rest;
  }

  #setItem(key: number, value: LuaValue): void {
    const { items } = this;
    if (key <= items.length) {
      items[key - 1] = value;
      if (value === undefined && key === items.length) this.#trim();
      return;
    }
    if (value === undefined) {
      this.#rest?.delete(key);
      return;
    }
    items.push(value);
    if (this.#rest) this.#absorb(this.#rest);
  }

  /** Takes what follows the last item out of the map. */
  #absorb(rest: Map<LuaValue, LuaValue>): void {
    rest.delete(this.items.length);
    for (let next = this.items.length + 1; rest.has(next); next++) {
      this.items.push(rest.get(next));
      rest.delete(next);
    }
  }

  #trim(): void {
    while (this.items.length > 0 && this.items.at(-1) === undefined) this.items.pop();
  }
}

export function typeOf(value: LuaValue): string {
  if (value === undefined) return 'nil';
  if (value instanceof LuaTable) return 'table';
  if (value === JSON_NULL) return 'userdata';
  return typeof value;
}
