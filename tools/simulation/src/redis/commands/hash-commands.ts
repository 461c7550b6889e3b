import { OK, RedisError, type Reply } from '../replies.ts';
import type { Database } from '../store/database.ts';
import { Hash } from '../store/values.ts';
import { at, float, grow, integer, read, scanned, sumText, write, type Commands } from './command.ts';

const NOT_INTEGER = 'ERR hash value is not an integer';

function setAll(db: Database, args: readonly string[]): number {
  if (args.length % 2 === 1)
    throw new RedisError(`ERR wrong number of arguments for '${at(args, 0).toLowerCase()}' command`);
  const { fields } = db.ensure(at(args, 1), Hash);
  const before = fields.size;
  for (let index = 2; index < args.length; index += 2) fields.set(at(args, index), at(args, index + 1));
  return fields.size - before;
}

function removeAll(db: Database, args: readonly string[]): Reply {
  const hash = db.get(at(args, 1), Hash);
  if (!hash) return 0;
  const removed = args.slice(2).filter((field) => hash.fields.delete(field)).length;
  db.tidy(at(args, 1), hash);
  return removed;
}

function fieldsOf(db: Database, args: readonly string[]): ReadonlyMap<string, string> {
  return db.get(at(args, 1), Hash)?.fields ?? new Map();
}

function increase(db: Database, args: readonly string[]): Reply {
  const by = integer(at(args, 3));
  const old = integer(fieldsOf(db, args).get(at(args, 2)) ?? '0', NOT_INTEGER);
  if (!Number.isSafeInteger(old + by)) throw new RedisError('ERR increment or decrement would overflow');
  db.ensure(at(args, 1), Hash).fields.set(at(args, 2), String(old + by));
  return old + by;
}

function increaseByFloat(db: Database, args: readonly string[]): Reply {
  const by = float(at(args, 3));
  const old = float(fieldsOf(db, args).get(at(args, 2)) ?? '0', 'ERR hash value is not a float');
  const text = sumText(old + by);
  db.ensure(at(args, 1), Hash).fields.set(at(args, 2), text);
  return text;
}

function scan(db: Database, args: readonly string[]): Reply {
  const isBare = args.at(-1)?.toUpperCase() === 'NOVALUES';
  if (isBare) return scanned([...fieldsOf(db, args).keys()], args.slice(3, -1));
  return scanned([...fieldsOf(db, args)].flat(), args.slice(3), 2);
}

export const HASH_COMMANDS: Commands = {
  HSET: grow(-4, setAll),
  HMSET: grow(-4, (db, args) => {
    setAll(db, args);
    return OK;
  }),
  HSETNX: grow(4, (db, args) => {
    if (fieldsOf(db, args).has(at(args, 2))) return 0;
    db.ensure(at(args, 1), Hash).fields.set(at(args, 2), at(args, 3));
    return 1;
  }),
  HGET: read(3, (db, args) => fieldsOf(db, args).get(at(args, 2)) ?? null),
  HMGET: read(-3, (db, args) => {
    const fields = fieldsOf(db, args);
    return args.slice(2).map((field) => fields.get(field) ?? null);
  }),
  HGETALL: read(2, (db, args) => [...fieldsOf(db, args)].flat()),
  HKEYS: read(2, (db, args) => [...fieldsOf(db, args).keys()]),
  HVALS: read(2, (db, args) => [...fieldsOf(db, args).values()]),
  HLEN: read(2, (db, args) => fieldsOf(db, args).size),
  HSTRLEN: read(3, (db, args) => fieldsOf(db, args).get(at(args, 2))?.length ?? 0),
  HEXISTS: read(3, (db, args) => Number(fieldsOf(db, args).has(at(args, 2)))),
  HDEL: write(-3, removeAll),
  HINCRBY: grow(4, increase),
  HINCRBYFLOAT: grow(4, increaseByFloat),
  HSCAN: read(-3, scan),
};
