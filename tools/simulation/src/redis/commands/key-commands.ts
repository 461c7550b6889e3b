import { OK, RedisError, Status, type Reply } from '../replies.ts';
import type { Database } from '../store/database.ts';
import { Stream } from '../store/stream.ts';
import {
  at,
  globMatcher,
  grow,
  integer,
  read,
  scanned,
  syntaxError,
  write,
  type Commands,
} from './command.ts';

/** `EXPIRE` and its kin. Options: NX, XX, GT, LT. */
function expire(scale: number, isAbsolute: boolean) {
  return (db: Database, args: readonly string[]): Reply => {
    const amount = integer(at(args, 2)) * scale;
    const value = db.find(at(args, 1));
    if (!value) return 0;
    const expiresAt = isAbsolute ? amount : db.now + amount;
    if (!args.slice(3).every((option) => allows(option, value.expiresAt, expiresAt))) return 0;
    value.expiresAt = expiresAt;
    // Removes it if the time has passed.
    db.find(at(args, 1));
    return 1;
  };
}

function allows(option: string, old: number, next: number): boolean {
  switch (option.toUpperCase()) {
    case 'NX':
      return old === Infinity;
    case 'XX':
      return old !== Infinity;
    case 'GT':
      return next > old;
    case 'LT':
      return next < old;
    default:
      throw new RedisError(`ERR Unsupported option ${option}`);
  }
}

function remaining(scale: number, isAbsolute: boolean) {
  return (db: Database, args: readonly string[]): Reply => {
    const value = db.find(at(args, 1));
    if (!value) return -2;
    if (value.expiresAt === Infinity) return -1;
    const left = isAbsolute ? value.expiresAt : value.expiresAt - db.now;
    return scale === 1 ? left : Math.floor((left + (isAbsolute ? 0 : 500)) / scale);
  };
}

function remove(db: Database, args: readonly string[]): Reply {
  return args.slice(1).filter((key) => db.delete(key)).length;
}

function rename(db: Database, from: string, to: string): void {
  const value = db.find(from);
  if (!value) throw new RedisError('ERR no such key');
  db.delete(from);
  db.set(to, value);
}

function scan(db: Database, args: readonly string[]): Reply {
  const options: string[] = [];
  let type: string | undefined;
  for (let index = 2; index < args.length; index += 2) {
    if (at(args, index).toUpperCase() === 'TYPE') type = at(args, index + 1).toLowerCase();
    else options.push(at(args, index), at(args, index + 1));
  }
  const keys = db.keys().filter((key) => type === undefined || db.find(key)?.type === type);
  return scanned(keys, options);
}

/** Only of streams it is more than a rough sum. */
function memoryUsage(db: Database, key: string): Reply {
  const value = db.find(key);
  if (!value) return null;
  if (value instanceof Stream) return value.bytes;
  let bytes = 64 + key.length;
  for (const text of value.texts()) bytes += 16 + text.length;
  return bytes;
}

export const KEY_COMMANDS: Commands = {
  DEL: write(-2, remove),
  UNLINK: write(-2, remove),
  EXISTS: read(-2, (db, args) => args.slice(1).filter((key) => db.find(key)).length),
  TOUCH: read(-2, (db, args) => args.slice(1).filter((key) => db.find(key)).length),
  TYPE: read(2, (db, args) => new Status(db.find(at(args, 1))?.type ?? 'none')),
  EXPIRE: write(-3, expire(1000, false)),
  PEXPIRE: write(-3, expire(1, false)),
  EXPIREAT: write(-3, expire(1000, true)),
  PEXPIREAT: write(-3, expire(1, true)),
  TTL: read(2, remaining(1000, false)),
  PTTL: read(2, remaining(1, false)),
  EXPIRETIME: read(2, remaining(1000, true)),
  PEXPIRETIME: read(2, remaining(1, true)),
  PERSIST: write(2, (db, args) => {
    const value = db.find(at(args, 1));
    if (!value || value.expiresAt === Infinity) return 0;
    value.expiresAt = Infinity;
    return 1;
  }),
  RENAME: write(3, (db, args) => {
    rename(db, at(args, 1), at(args, 2));
    return OK;
  }),
  RENAMENX: write(3, (db, args) => {
    if (db.find(at(args, 1)) && db.find(at(args, 2))) return 0;
    rename(db, at(args, 1), at(args, 2));
    return 1;
  }),
  KEYS: read(2, (db, args) => db.keys().filter(globMatcher(at(args, 1)))),
  SCAN: read(-2, scan),
  DBSIZE: read(1, (db) => db.keys().length),
  FLUSHDB: write(-1, (db) => {
    db.clear();
    return OK;
  }),
  FLUSHALL: write(-1, (db) => {
    db.clear();
    return OK;
  }),
  MEMORY: read(-2, (db, args) => {
    if (at(args, 1).toUpperCase() !== 'USAGE') throw syntaxError();
    return memoryUsage(db, at(args, 2));
  }),
  COPY: grow(-3, (db, args) => {
    const value = db.find(at(args, 1));
    const replaces = args[3]?.toUpperCase() === 'REPLACE';
    if (!value || (db.find(at(args, 2)) && !replaces)) return 0;
    db.set(at(args, 2), value.clone());
    return 1;
  }),
};
