import { RedisError, type Reply } from '../replies.ts';
import type { Database } from '../store/database.ts';
import { scoreText, SortedSet } from '../store/sorted-set.ts';
import { at, float, grow, integer, read, scanned, syntaxError, write, type Commands } from './command.ts';
import { answerRange, boundsOf, plainQuery, readQuery, type RangeQuery } from './sorted-set-ranges.ts';

const ADD_OPTIONS: ReadonlySet<string> = new Set(['NX', 'XX', 'GT', 'LT', 'CH', 'INCR']);

function add(db: Database, args: readonly string[]): Reply {
  const options = new Set<string>();
  let first = 2;
  while (ADD_OPTIONS.has(args[first]?.toUpperCase() ?? '')) {
    options.add(at(args, first).toUpperCase());
    first++;
  }
  const pairs = scoresOf(args.slice(first));
  checkAddOptions(options, pairs.length);
  const key = at(args, 1);
  const set = db.ensure(key, SortedSet);
  const counts = { added: 0, changed: 0 };
  let last: Reply = null;
  for (const [member, score] of pairs) last = addOne(set, { member, score, options, counts });
  db.tidy(key, set);
  if (options.has('INCR')) return last;
  return options.has('CH') ? counts.added + counts.changed : counts.added;
}

function scoresOf(pairs: readonly string[]): [string, number][] {
  if (pairs.length === 0 || pairs.length % 2 === 1) throw syntaxError();
  const scores: [string, number][] = [];
  for (let index = 0; index < pairs.length; index += 2)
    scores.push([at(pairs, index + 1), float(at(pairs, index))]);
  return scores;
}

function checkAddOptions(options: ReadonlySet<string>, pairs: number): void {
  if (options.has('NX') && options.has('XX'))
    throw new RedisError('ERR XX and NX options at the same time are not compatible');
  if (['NX', 'GT', 'LT'].filter((name) => options.has(name)).length > 1)
    throw new RedisError('ERR GT, LT, and/or NX options at the same time are not compatible');
  if (options.has('INCR') && pairs > 1)
    throw new RedisError('ERR INCR option supports a single increment-element pair');
}

interface Addition {
  readonly member: string;
  readonly score: number;
  readonly options: ReadonlySet<string>;
  readonly counts: { added: number; changed: number };
}

/** Returns the new score; null if the options forbid it. */
function addOne(set: SortedSet, { member, score, options, counts }: Addition): Reply {
  const old = set.scoreOf(member);
  if (options.has(old === undefined ? 'XX' : 'NX')) return null;
  const next = options.has('INCR') ? (old ?? 0) + score : score;
  if (Number.isNaN(next)) throw new RedisError('ERR resulting score is not a number (NaN)');
  if (old === undefined) counts.added++;
  else if (isRefused(old, next, options)) return null;
  else if (next !== old) counts.changed++;
  set.set(member, next);
  return scoreText(next);
}

function isRefused(old: number, next: number, options: ReadonlySet<string>): boolean {
  return (options.has('GT') && next <= old) || (options.has('LT') && next >= old);
}

function removeMembers(db: Database, args: readonly string[]): Reply {
  const set = db.get(at(args, 1), SortedSet);
  if (!set) return 0;
  const removed = args.slice(2).filter((member) => set.delete(member)).length;
  db.tidy(at(args, 1), set);
  return removed;
}

function removeRange(by: RangeQuery['by']) {
  return (db: Database, args: readonly string[]): Reply => {
    const set = db.get(at(args, 1), SortedSet);
    const [begin, end] = boundsOf(set ?? new SortedSet(), args, { by, isReversed: false });
    if (!set) return 0;
    const found = set.slice(begin, end);
    for (const { member } of found) set.delete(member);
    db.tidy(at(args, 1), set);
    return found.length;
  };
}

function count(by: RangeQuery['by']) {
  return (db: Database, args: readonly string[]): Reply => {
    const set = db.get(at(args, 1), SortedSet) ?? new SortedSet();
    const [begin, end] = boundsOf(set, args, { by, isReversed: false });
    return Math.max(0, end - begin);
  };
}

function range(by: RangeQuery['by'], isReversed: boolean) {
  return (db: Database, args: readonly string[]): Reply =>
    answerRange(db, args, readQuery(plainQuery(by, isReversed), args));
}

/** Removes the members of the lowest or highest scores; member and score in turn. */
function pop(set: SortedSet, most: number, isHighest: boolean): string[] {
  const found = isHighest ? set.slice(Math.max(0, set.size - most), set.size).reverse() : set.slice(0, most);
  for (const { member } of found) set.delete(member);
  return found.flatMap(({ member, score }) => [member, scoreText(score)]);
}

function popCommand(isHighest: boolean) {
  return (db: Database, args: readonly string[]): Reply => {
    const most = args.length > 2 ? integer(at(args, 2)) : 1;
    const set = db.get(at(args, 1), SortedSet);
    if (!set) return [];
    const popped = pop(set, most, isHighest);
    db.tidy(at(args, 1), set);
    return popped;
  };
}

/** The first of the sorted sets that has a member, with member and score; null if all are empty. */
export function popFirstScored(db: Database, keys: readonly string[], isHighest: boolean): Reply {
  for (const key of keys) {
    const set = db.get(key, SortedSet);
    if (!set) continue;
    const popped = pop(set, 1, isHighest);
    db.tidy(key, set);
    return [key, ...popped];
  }
  return null;
}

function scoreOf(set: SortedSet | undefined, member: string): string | null {
  const score = set?.scoreOf(member);
  return score === undefined ? null : scoreText(score);
}

function rank(isReversed: boolean) {
  return (db: Database, args: readonly string[]): Reply => {
    const set = db.get(at(args, 1), SortedSet);
    const place = set?.rankOf(at(args, 2));
    if (!set || place === undefined) return null;
    return isReversed ? set.size - 1 - place : place;
  };
}

export const SORTED_SET_COMMANDS: Commands = {
  ZADD: grow(-4, add),
  ZINCRBY: grow(4, (db, args) => add(db, ['ZADD', at(args, 1), 'INCR', at(args, 2), at(args, 3)])),
  ZREM: write(-3, removeMembers),
  ZREMRANGEBYSCORE: write(4, removeRange('score')),
  ZREMRANGEBYRANK: write(4, removeRange('rank')),
  ZREMRANGEBYLEX: write(4, removeRange('member')),
  ZSCORE: read(3, (db, args) => scoreOf(db.get(at(args, 1), SortedSet), at(args, 2))),
  ZMSCORE: read(-3, (db, args) => {
    const set = db.get(at(args, 1), SortedSet);
    return args.slice(2).map((member) => scoreOf(set, member));
  }),
  ZCARD: read(2, (db, args) => db.get(at(args, 1), SortedSet)?.size ?? 0),
  ZCOUNT: read(4, count('score')),
  ZLEXCOUNT: read(4, count('member')),
  ZRANGE: read(-4, range('rank', false)),
  ZREVRANGE: read(-4, range('rank', true)),
  ZRANGEBYSCORE: read(-4, range('score', false)),
  ZREVRANGEBYSCORE: read(-4, range('score', true)),
  ZRANGEBYLEX: read(-4, range('member', false)),
  ZREVRANGEBYLEX: read(-4, range('member', true)),
  ZRANK: read(3, rank(false)),
  ZREVRANK: read(3, rank(true)),
  ZPOPMIN: write(-2, popCommand(false)),
  ZPOPMAX: write(-2, popCommand(true)),
  ZSCAN: read(-3, (db, args) => {
    const set = db.get(at(args, 1), SortedSet) ?? new SortedSet();
    const all = set.slice(0, set.size).flatMap(({ member, score }) => [member, scoreText(score)]);
    return scanned(all, args.slice(3), 2);
  }),
};
