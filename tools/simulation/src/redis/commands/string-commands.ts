import { OK, RedisError, type Reply } from '../replies.ts';
import type { Database } from '../store/database.ts';
import { Text } from '../store/values.ts';
import {
  at,
  float,
  grow,
  integer,
  rangeOf,
  read,
  sumText,
  syntaxError,
  write,
  type Commands,
} from './command.ts';
import { expiryOf } from './expiry.ts';

interface SetOptions {
  onlyIf: 'NX' | 'XX' | undefined;
  returnsOld: boolean;
  keepsExpiry: boolean;
  expiresAt: number;
}

function setOptions(db: Database, args: readonly string[]): SetOptions {
  const options: SetOptions = {
    onlyIf: undefined,
    returnsOld: false,
    keepsExpiry: false,
    expiresAt: Infinity,
  };
  for (let index = 3; index < args.length; index++) {
    const name = at(args, index).toUpperCase();
    if (name === 'NX' || name === 'XX') {
      if (options.onlyIf !== undefined && options.onlyIf !== name) throw syntaxError();
      options.onlyIf = name;
    } else if (name === 'GET') options.returnsOld = true;
    else if (name === 'KEEPTTL') options.keepsExpiry = true;
    else {
      index++;
      options.expiresAt = expiryOf(db, { unit: name, amount: at(args, index), command: 'set' });
    }
  }
  if (options.keepsExpiry && options.expiresAt !== Infinity) throw syntaxError();
  return options;
}

function set(db: Database, args: readonly string[]): Reply {
  const [key, text] = [at(args, 1), at(args, 2)];
  const options = setOptions(db, args);
  const old = options.returnsOld ? db.get(key, Text) : db.find(key);
  const reply = options.returnsOld ? textOf(old instanceof Text ? old : undefined) : null;
  if (options.onlyIf === 'NX' ? old : options.onlyIf === 'XX' && !old) return reply;
  const value = new Text(text);
  value.expiresAt = options.keepsExpiry && old ? old.expiresAt : options.expiresAt;
  db.set(key, value);
  return options.returnsOld ? reply : OK;
}

function textOf(value: Text | undefined): string | null {
  return value ? value.text : null;
}

function setNew(db: Database, key: string, text: string): boolean {
  if (db.find(key)) return false;
  db.set(key, new Text(text));
  return true;
}

function increase(db: Database, key: string, by: number): number {
  const value = db.get(key, Text);
  const sum = integer(value?.text ?? '0') + by;
  if (!Number.isSafeInteger(sum)) throw new RedisError('ERR increment or decrement would overflow');
  if (value) value.text = String(sum);
  else db.set(key, new Text(String(sum)));
  return sum;
}

function increaseByFloat(db: Database, key: string, by: number): string {
  const value = db.get(key, Text);
  const text = sumText(float(value?.text ?? '0') + by);
  if (value) value.text = text;
  else db.set(key, new Text(text));
  return text;
}

function getAndExpire(db: Database, args: readonly string[]): Reply {
  const unit = args[2]?.toUpperCase();
  const expiresAt =
    unit === undefined || unit === 'PERSIST'
      ? Infinity
      : expiryOf(db, { unit, amount: at(args, 3), command: 'getex' });
  const value = db.get(at(args, 1), Text);
  if (!value) return null;
  if (unit !== undefined) value.expiresAt = expiresAt;
  return value.text;
}

function setExpiring(unit: string, command: string) {
  return (db: Database, args: readonly string[]): Reply => {
    const expiresAt = expiryOf(db, { unit, amount: at(args, 2), command });
    const value = new Text(at(args, 3));
    value.expiresAt = expiresAt;
    db.set(at(args, 1), value);
    return OK;
  };
}

export const STRING_COMMANDS: Commands = {
  GET: read(2, (db, args) => textOf(db.get(at(args, 1), Text))),
  SET: grow(-3, set),
  SETNX: grow(3, (db, args) => Number(setNew(db, at(args, 1), at(args, 2)))),
  SETEX: grow(4, setExpiring('EX', 'setex')),
  PSETEX: grow(4, setExpiring('PX', 'psetex')),
  GETSET: grow(3, (db, args) => {
    const old = db.get(at(args, 1), Text);
    db.set(at(args, 1), new Text(at(args, 2)));
    return textOf(old);
  }),
  GETDEL: write(2, (db, args) => {
    const old = db.get(at(args, 1), Text);
    if (old) db.delete(at(args, 1));
    return textOf(old);
  }),
  GETEX: write(-2, getAndExpire),
  MGET: read(-2, (db, args) =>
    args.slice(1).map((key) => {
      const value = db.find(key);
      return value instanceof Text ? value.text : null;
    }),
  ),
  MSET: grow(-3, (db, args) => {
    if (args.length % 2 === 0) throw new RedisError("ERR wrong number of arguments for 'mset' command");
    for (let index = 1; index < args.length; index += 2)
      db.set(at(args, index), new Text(at(args, index + 1)));
    return OK;
  }),
  INCR: grow(2, (db, args) => increase(db, at(args, 1), 1)),
  DECR: grow(2, (db, args) => increase(db, at(args, 1), -1)),
  INCRBY: grow(3, (db, args) => increase(db, at(args, 1), integer(at(args, 2)))),
  DECRBY: grow(3, (db, args) => increase(db, at(args, 1), -integer(at(args, 2)))),
  INCRBYFLOAT: grow(3, (db, args) => increaseByFloat(db, at(args, 1), float(at(args, 2)))),
  APPEND: grow(3, (db, args) => {
    const value = db.ensure(at(args, 1), Text);
    value.text += at(args, 2);
    return value.text.length;
  }),
  STRLEN: read(2, (db, args) => db.get(at(args, 1), Text)?.text.length ?? 0),
  GETRANGE: read(4, (db, args) => {
    const text = db.get(at(args, 1), Text)?.text ?? '';
    const [start, stop] = [integer(at(args, 2)), integer(at(args, 3))];
    if (start < 0 && stop < 0 && start > stop) return '';
    // Unlike with lists, an end before the first byte is the first byte.
    return text.slice(...rangeOf(text.length, start, Math.max(stop, stop < 0 ? -text.length : 0)));
  }),
  MSETNX: grow(-3, (db, args) => {
    if (args.length % 2 === 0) throw syntaxError();
    const keys = args.filter((_, index) => index % 2 === 1);
    if (keys.some((key) => db.find(key))) return 0;
    for (const [index, key] of keys.entries()) db.set(key, new Text(at(args, 2 * index + 2)));
    return 1;
  }),
};
