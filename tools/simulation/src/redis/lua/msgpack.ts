import { LuaFault, LuaTable, multi, type LuaValue } from './values.ts';

/** The library `cmsgpack`. */

const NEGATIVE_FIXED = 0xe0;

export function pack(values: readonly LuaValue[]): string {
  return values.map((value) => packed(value)).join('');
}

function packed(value: LuaValue): string {
  switch (typeof value) {
    case 'string':
      return packedText(value);
    case 'number':
      return packedNumber(value);
    case 'boolean':
      return value ? '\xc3' : '\xc2';
    default:
      return value instanceof LuaTable ? packedTable(value) : '\xc0';
  }
}

/** The header for a length: the short form if it fits, otherwise with one, two or four bytes (0: no such form). */
function header(length: number, [short, most, ...codes]: readonly number[]): string {
  const [one = 0, two = 0, four = 0] = codes;
  if (length <= (most ?? 0)) return String.fromCharCode((short ?? 0) | length);
  if (one > 0 && length <= 0xff) return String.fromCharCode(one) + bytesOf(length, 1);
  if (length <= 0xffff) return String.fromCharCode(two) + bytesOf(length, 2);
  return String.fromCharCode(four) + bytesOf(length, 4);
}

function bytesOf(value: number, size: number): string {
  let text = '';
  for (let at = size - 1; at >= 0; at--) text += String.fromCharCode(Math.floor(value / 256 ** at) & 0xff);
  return text;
}

function packedText(text: string): string {
  return header(text.length, [0xa0, 31, 0xd9, 0xda, 0xdb]) + text;
}

function packedNumber(value: number): string {
  if (!Number.isInteger(value)) return packedDouble(value);
  if (value >= 0) return packedPositive(value);
  if (value >= -32) return String.fromCharCode(256 + value);
  if (value >= -0x80) return `\xd0${bytesOf(value + 0x100, 1)}`;
  if (value >= -0x8000) return `\xd1${bytesOf(value + 0x1_0000, 2)}`;
  if (value >= -0x8000_0000) return `\xd2${bytesOf(value + 0x1_0000_0000, 4)}`;
  return `\xd3${bigBytes(BigInt(value))}`;
}

function packedPositive(value: number): string {
  if (value <= 127) return String.fromCharCode(value);
  if (value <= 0xff) return `\xcc${bytesOf(value, 1)}`;
  if (value <= 0xffff) return `\xcd${bytesOf(value, 2)}`;
  if (value <= 0xffff_ffff) return `\xce${bytesOf(value, 4)}`;
  return `\xcf${bigBytes(BigInt(value))}`;
}

function bigBytes(value: bigint): string {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt.asUintN(64, value));
  return bytes.toString('latin1');
}

function packedDouble(value: number): string {
  const bytes = Buffer.alloc(8);
  if (Math.fround(value) === value) return `\xca${bytes.toString('latin1', 0, bytes.writeFloatBE(value))}`;
  bytes.writeDoubleBE(value);
  return `\xcb${bytes.toString('latin1')}`;
}

function packedTable(table: LuaTable): string {
  if (!table.rest || table.rest.size === 0)
    return header(table.length, [0x90, 15, 0, 0xdc, 0xdd]) + table.items.map((item) => packed(item)).join('');
  const entries = [...table.entries()];
  const fields = entries.map(([key, value]) => packed(key) + packed(value)).join('');
  return header(entries.length, [0x80, 15, 0, 0xde, 0xdf]) + fields;
}

/** All values that follow each other in the text. */
export function unpackAll(text: string): LuaValue {
  const reader = new Reader(text);
  const values: LuaValue[] = [];
  while (!reader.isAtEnd) values.push(reader.value());
  return values.length === 1 ? values[0] : multi(values);
}

const READERS: Readonly<Record<number, (reader: Reader) => LuaValue>> = {
  0xc0: () => undefined,
  0xc2: () => false,
  0xc3: () => true,
  0xca: (reader) => Buffer.from(reader.take(4), 'latin1').readFloatBE(),
  0xcb: (reader) => Buffer.from(reader.take(8), 'latin1').readDoubleBE(),
  0xcc: (reader) => reader.unsigned(1),
  0xcd: (reader) => reader.unsigned(2),
  0xce: (reader) => reader.unsigned(4),
  0xcf: (reader) => Number(Buffer.from(reader.take(8), 'latin1').readBigUInt64BE()),
  0xd0: (reader) => Buffer.from(reader.take(1), 'latin1').readInt8(),
  0xd1: (reader) => Buffer.from(reader.take(2), 'latin1').readInt16BE(),
  0xd2: (reader) => Buffer.from(reader.take(4), 'latin1').readInt32BE(),
  0xd3: (reader) => Number(Buffer.from(reader.take(8), 'latin1').readBigInt64BE()),
  0xc4: (reader) => reader.take(reader.unsigned(1)),
  0xc5: (reader) => reader.take(reader.unsigned(2)),
  0xc6: (reader) => reader.take(reader.unsigned(4)),
  0xd9: (reader) => reader.take(reader.unsigned(1)),
  0xda: (reader) => reader.take(reader.unsigned(2)),
  0xdb: (reader) => reader.take(reader.unsigned(4)),
  0xdc: (reader) => reader.array(reader.unsigned(2)),
  0xdd: (reader) => reader.array(reader.unsigned(4)),
  0xde: (reader) => reader.map(reader.unsigned(2)),
  0xdf: (reader) => reader.map(reader.unsigned(4)),
};

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  value(): LuaValue {
    const code = this.unsigned(1);
    if (code < 0x80) return code;
    if (code >= NEGATIVE_FIXED) return code - 256;
    if (code < 0x90) return this.map(code & 0x0f);
    if (code < 0xa0) return this.array(code & 0x0f);
    if (code < 0xc0) return this.take(code & 0x1f);
    const read = READERS[code];
    if (!read) throw new LuaFault('Bad data format in input.');
    return read(this);
  }

  take(length: number): string {
    const text = this.#text.slice(this.#at, this.#at + length);
    if (text.length < length) throw new LuaFault('Missing bytes in input.');
    this.#at += length;
    return text;
  }

  unsigned(size: number): number {
    const text = this.take(size);
    let value = 0;
    for (let at = 0; at < size; at++) value = value * 256 + text.charCodeAt(at);
    return value;
  }

  array(length: number): LuaTable {
    const items: LuaValue[] = [];
    for (let at = 0; at < length; at++) items.push(this.value());
    return new LuaTable(items);
  }

  map(size: number): LuaTable {
    const table = new LuaTable();
    for (let at = 0; at < size; at++) {
      const key = this.value();
      table.set(key, this.value());
    }
    return table;
  }
}
