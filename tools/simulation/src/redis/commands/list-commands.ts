import { NO_ARRAY, OK, RedisError, type Reply } from '../replies.ts';
import type { Database } from '../store/database.ts';
import { List } from '../store/values.ts';
import { at, grow, integer, rangeOf, read, syntaxError, write, type Commands } from './command.ts';

function itemsOf(db: Database, args: readonly string[]): readonly string[] {
  return db.get(at(args, 1), List)?.items ?? [];
}

function push(isLeft: boolean, isOnlyExisting: boolean) {
  return (db: Database, args: readonly string[]): Reply => {
    const key = at(args, 1);
    if (isOnlyExisting && !db.get(key, List)) return 0;
    const { items } = db.ensure(key, List);
    for (let index = 2; index < args.length; index++) {
      if (isLeft) items.unshift(at(args, index));
      else items.push(at(args, index));
    }
    return items.length;
  };
}

function take(db: Database, key: string, isLeft: boolean): string | undefined {
  const list = db.get(key, List);
  const item = isLeft ? list?.items.shift() : list?.items.pop();
  if (list) db.tidy(key, list);
  return item;
}

function pop(isLeft: boolean) {
  return (db: Database, args: readonly string[]): Reply => {
    const key = at(args, 1);
    if (args.length === 2) return take(db, key, isLeft) ?? null;
    const count = integer(at(args, 2), 'ERR value is out of range, must be positive');
    if (count < 0) throw new RedisError('ERR value is out of range, must be positive');
    const list = db.get(key, List);
    if (!list) return NO_ARRAY;
    const items: string[] = [];
    while (items.length < count && list.size > 0) items.push(take(db, key, isLeft) ?? '');
    return items;
  };
}

/** Moves one item, whose value is returned; null if there is none. */
export function move(
  db: Database,
  { from, to, isFromLeft, isToLeft }: { from: string; to: string; isFromLeft: boolean; isToLeft: boolean },
): string | null {
  db.get(to, List);
  const item = take(db, from, isFromLeft);
  if (item === undefined) return null;
  const { items } = db.ensure(to, List);
  if (isToLeft) items.unshift(item);
  else items.push(item);
  return item;
}

export function isLeftEnd(text: string): boolean {
  const end = text.toUpperCase();
  if (end !== 'LEFT' && end !== 'RIGHT') throw syntaxError();
  return end === 'LEFT';
}

/** The first of the lists that has an item, with that item; null if all are empty. */
export function popFirst(db: Database, keys: readonly string[], isLeft: boolean): Reply {
  for (const key of keys) {
    const item = take(db, key, isLeft);
    if (item !== undefined) return [key, item];
  }
  return null;
}

function remove(db: Database, args: readonly string[]): Reply {
  const [count, sought] = [integer(at(args, 2)), at(args, 3)];
  const list = db.get(at(args, 1), List);
  if (!list) return 0;
  const most = count === 0 ? Infinity : Math.abs(count);
  let removed = 0;
  const keeps = (item: string): boolean => item !== sought || removed >= most || ++removed < 0;
  list.items =
    count < 0
      ? list.items.reverse().filter(keeps).reverse()
      : list.items.includes(sought)
        ? list.items.filter(keeps)
        : list.items;
  db.tidy(at(args, 1), list);
  return removed;
}

function positions(db: Database, args: readonly string[]): Reply {
  const options = new Map<string, number>();
  for (let index = 3; index < args.length; index += 2)
    options.set(at(args, index).toUpperCase(), integer(at(args, index + 1)));
  const count = options.get('COUNT');
  const found = indexesOf(itemsOf(db, args), at(args, 2), {
    rank: options.get('RANK') ?? 1,
    count: count === 0 ? Infinity : (count ?? 1),
    visited: options.get('MAXLEN') || Infinity,
  });
  return count === undefined ? (found[0] ?? null) : found;
}

/** The indexes of at most `count` items of this text, from the match `rank` (1: the first, -1: the last). */
function indexesOf(
  items: readonly string[],
  sought: string,
  { rank, count, visited }: { rank: number; count: number; visited: number },
): number[] {
  const found: number[] = [];
  let skipped = Math.abs(rank) - 1;
  for (let step = 0; step < Math.min(visited, items.length) && found.length < count; step++) {
    const index = rank < 0 ? items.length - 1 - step : step;
    if (items[index] !== sought) continue;
    if (skipped > 0) skipped--;
    else found.push(index);
  }
  return found;
}

function insert(db: Database, args: readonly string[]): Reply {
  const side = at(args, 2).toUpperCase();
  if (side !== 'BEFORE' && side !== 'AFTER') throw syntaxError();
  const list = db.get(at(args, 1), List);
  if (!list) return 0;
  const index = list.items.indexOf(at(args, 3));
  if (index < 0) return -1;
  list.items.splice(side === 'BEFORE' ? index : index + 1, 0, at(args, 4));
  return list.size;
}

export const LIST_COMMANDS: Commands = {
  LPUSH: grow(-3, push(true, false)),
  RPUSH: grow(-3, push(false, false)),
  LPUSHX: grow(-3, push(true, true)),
  RPUSHX: grow(-3, push(false, true)),
  LPOP: write(-2, pop(true)),
  RPOP: write(-2, pop(false)),
  LLEN: read(2, (db, args) => itemsOf(db, args).length),
  LRANGE: read(4, (db, args) => {
    const [start, stop] = [integer(at(args, 2)), integer(at(args, 3))];
    const items = itemsOf(db, args);
    return items.slice(...rangeOf(items.length, start, stop));
  }),
  LINDEX: read(3, (db, args) => itemsOf(db, args).at(integer(at(args, 2))) ?? null),
  LSET: grow(4, (db, args) => {
    const list = db.get(at(args, 1), List);
    if (!list) throw new RedisError('ERR no such key');
    const index = integer(at(args, 2));
    const position = index < 0 ? list.size + index : index;
    if (position < 0 || position >= list.size) throw new RedisError('ERR index out of range');
    list.items[position] = at(args, 3);
    return OK;
  }),
  LREM: write(4, remove),
  LTRIM: write(4, (db, args) => {
    const [start, stop] = [integer(at(args, 2)), integer(at(args, 3))];
    const list = db.get(at(args, 1), List);
    if (!list) return OK;
    list.items = list.items.slice(...rangeOf(list.size, start, stop));
    db.tidy(at(args, 1), list);
    return OK;
  }),
  LPOS: read(-3, positions),
  LINSERT: grow(5, insert),
  RPOPLPUSH: grow(3, (db, args) =>
    move(db, { from: at(args, 1), to: at(args, 2), isFromLeft: false, isToLeft: true }),
  ),
  LMOVE: grow(5, (db, args) =>
    move(db, {
      from: at(args, 1),
      to: at(args, 2),
      isFromLeft: isLeftEnd(at(args, 3)),
      isToLeft: isLeftEnd(at(args, 4)),
    }),
  ),
};
