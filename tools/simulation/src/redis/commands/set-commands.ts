import type { Reply } from '../replies.ts';
import type { Database } from '../store/database.ts';
import { Members } from '../store/values.ts';
import { at, grow, read, scanned, write, type Commands } from './command.ts';

function membersOf(db: Database, key: string): ReadonlySet<string> {
  return db.get(key, Members)?.members ?? new Set();
}

function add(db: Database, args: readonly string[]): Reply {
  const { members } = db.ensure(at(args, 1), Members);
  const before = members.size;
  for (let index = 2; index < args.length; index++) members.add(at(args, index));
  return members.size - before;
}

function remove(db: Database, args: readonly string[]): Reply {
  const value = db.get(at(args, 1), Members);
  if (!value) return 0;
  const removed = args.slice(2).filter((member) => value.members.delete(member)).length;
  db.tidy(at(args, 1), value);
  return removed;
}

function all(db: Database, args: readonly string[]): ReadonlySet<string>[] {
  return args.slice(1).map((key) => membersOf(db, key));
}

export const SET_COMMANDS: Commands = {
  SADD: grow(-3, add),
  SREM: write(-3, remove),
  SMEMBERS: read(2, (db, args) => [...membersOf(db, at(args, 1))]),
  SISMEMBER: read(3, (db, args) => Number(membersOf(db, at(args, 1)).has(at(args, 2)))),
  SMISMEMBER: read(-3, (db, args) => {
    const members = membersOf(db, at(args, 1));
    return args.slice(2).map((member) => Number(members.has(member)));
  }),
  SCARD: read(2, (db, args) => membersOf(db, at(args, 1)).size),
  SSCAN: read(-3, (db, args) => scanned([...membersOf(db, at(args, 1))], args.slice(3))),
  SUNION: read(-2, (db, args) => [...new Set(all(db, args).flatMap((members) => [...members]))]),
  SINTER: read(-2, (db, args) => {
    const [first = new Set<string>(), ...others] = all(db, args);
    return [...first].filter((member) => others.every((members) => members.has(member)));
  }),
  SDIFF: read(-2, (db, args) => {
    const [first = new Set<string>(), ...others] = all(db, args);
    return [...first].filter((member) => !others.some((members) => members.has(member)));
  }),
};
