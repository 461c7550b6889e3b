import { RedisError, type Reply } from '../replies.ts';
import type { Database } from '../store/database.ts';
import { HIGHEST, LOWEST, scoreText, SortedSet, type Bound } from '../store/sorted-set.ts';
import { at, float, integer, rangeOf, syntaxError } from './command.ts';

/** What a range is of, and how it is answered. */
export interface RangeQuery {
  by: 'rank' | 'score' | 'member';
  isReversed: boolean;
  hasScores: boolean;
  offset: number;
  count: number;
}

export function plainQuery(by: RangeQuery['by'], isReversed = false): RangeQuery {
  return { by, isReversed, hasScores: false, offset: 0, count: -1 };
}

/** Reads `WITHSCORES`, `LIMIT offset count`, and for `ZRANGE` `BYSCORE`, `BYLEX` and `REV`. */
export function readQuery(query: RangeQuery, args: readonly string[]): RangeQuery {
  for (let index = 4; index < args.length; index++) {
    const name = at(args, index).toUpperCase();
    if (name === 'WITHSCORES') query.hasScores = true;
    else if (name === 'BYSCORE') query.by = 'score';
    else if (name === 'BYLEX') query.by = 'member';
    else if (name === 'REV') query.isReversed = true;
    else if (name === 'LIMIT') {
      query.offset = integer(at(args, index + 1));
      query.count = integer(at(args, index + 2));
      index += 2;
    } else throw syntaxError();
  }
  return query;
}

/** Answers a range whose bounds are arguments 2 and 3. */
export function answerRange(db: Database, args: readonly string[], query: RangeQuery): Reply {
  const set = db.get(at(args, 1), SortedSet);
  const [begin, end] = boundsOf(set ?? new SortedSet(), args, query);
  if (!set) return [];
  const found = set.slice(begin, end);
  if (query.isReversed) found.reverse();
  const from = query.offset < 0 ? found.length : query.offset;
  const some =
    from === 0 && query.count < 0
      ? found
      : found.slice(from, query.count < 0 ? undefined : from + query.count);
  if (!query.hasScores) return some.map(({ member }) => member);
  return some.flatMap(({ member, score }) => [member, scoreText(score)]);
}

/** Begin and end, from the lowest. */
export function boundsOf(
  set: SortedSet,
  args: readonly string[],
  { by, isReversed }: Pick<RangeQuery, 'by' | 'isReversed'>,
): [number, number] {
  const [one, other] = [at(args, 2), at(args, 3)];
  const [min, max] = isReversed ? [other, one] : [one, other];
  if (by === 'score') return set.rangeOfScores(scoreBound(min), scoreBound(max));
  if (by === 'member') return set.rangeOfMembers(memberBound(min), memberBound(max));
  const [begin, end] = rangeOf(set.size, integer(one), integer(other));
  return isReversed ? [set.size - end, set.size - begin] : [begin, end];
}

function scoreBound(text: string): Bound<number> {
  const isExclusive = text.startsWith('(');
  return { value: float(isExclusive ? text.slice(1) : text, 'ERR min or max is not a float'), isExclusive };
}

function memberBound(text: string): Bound<string> {
  const isValid = text === LOWEST || text === HIGHEST || text.startsWith('[') || text.startsWith('(');
  if (!isValid) throw new RedisError('ERR min or max not valid string range item');
  return { value: text, isExclusive: text.startsWith('(') };
}
