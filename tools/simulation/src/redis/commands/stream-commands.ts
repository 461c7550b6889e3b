import { RedisError, type Reply } from '../replies.ts';
import type { Database } from '../store/database.ts';
import { compareIds, FIRST_ID, idText, LAST_ID, nextId, parseId, type StreamId } from '../store/stream-id.ts';
import { Stream, type StreamEntry, type TrimGoal } from '../store/stream.ts';
import { at, grow, integer, read, syntaxError, write, type Commands } from './command.ts';

interface Trim {
  readonly goal: TrimGoal;
  readonly isApproximate: boolean;
  readonly limit: number | undefined;
}

/** Reads `MAXLEN|MINID [=|~] threshold [LIMIT count]` at a position; returns the position behind it too. */
function readTrim(args: readonly string[], from: number): { trim: Trim; next: number } {
  const kind = at(args, from).toUpperCase();
  if (kind !== 'MAXLEN' && kind !== 'MINID') throw syntaxError();
  let next = from + 1;
  const sign = at(args, next);
  if (sign === '~' || sign === '=') next++;
  const threshold = at(args, next);
  next++;
  let limit: number | undefined;
  if (args[next]?.toUpperCase() === 'LIMIT') {
    if (sign !== '~')
      throw new RedisError('ERR syntax error, LIMIT cannot be used without the special ~ option');
    limit = integer(at(args, next + 1));
    next += 2;
  }
  return { trim: { goal: goalOf(kind, threshold), isApproximate: sign === '~', limit }, next };
}

function goalOf(kind: string, threshold: string): TrimGoal {
  if (kind === 'MINID') return { from: parseId(threshold, 0) };
  const length = integer(threshold);
  if (length < 0) throw new RedisError('ERR The MAXLEN argument must be >= 0.');
  return { length };
}

interface Addition {
  readonly makes: boolean;
  readonly trim: Trim | undefined;
  readonly id: string;
  readonly fields: readonly string[];
}

function readAddition(args: readonly string[]): Addition {
  const makes = args[2]?.toUpperCase() !== 'NOMKSTREAM';
  let next = makes ? 2 : 3;
  let trim: Trim | undefined;
  if (['MAXLEN', 'MINID'].includes(at(args, next).toUpperCase())) ({ trim, next } = readTrim(args, next));
  const fields = args.slice(next + 1);
  if (fields.length === 0 || fields.length % 2 === 1)
    throw new RedisError("ERR wrong number of arguments for 'xadd' command");
  return { makes, trim, id: at(args, next), fields };
}

function add(db: Database, args: readonly string[]): Reply {
  const { makes, trim, id: given, fields } = readAddition(args);
  const existing = db.get(at(args, 1), Stream);
  if (!existing && !makes) return null;
  const id = newId(db, given, existing?.lastId ?? FIRST_ID);
  const stream = existing ?? db.ensure(at(args, 1), Stream);
  stream.add({ id, fields });
  if (trim) stream.trim(trim.goal, trim.isApproximate, trim.limit);
  return idText(id);
}

function newId(db: Database, given: string, last: StreamId): StreamId {
  if (given === '*') return db.now > last.time ? { time: db.now, sequence: 0 } : nextId(last);
  if (given.endsWith('-*')) {
    const { time } = parseId(given.slice(0, -2), 0);
    if (time === last.time) return nextId(last);
    return checkLater({ time, sequence: 0 }, last);
  }
  const id = parseId(given, 0);
  if (compareIds(id, FIRST_ID) === 0)
    throw new RedisError('ERR The ID specified in XADD must be greater than 0-0');
  return checkLater(id, last);
}

function checkLater(id: StreamId, last: StreamId): StreamId {
  if (compareIds(id, last) > 0) return id;
  throw new RedisError('ERR The ID specified in XADD is equal or smaller than the target stream top item');
}

function entryReply({ id, fields }: StreamEntry): Reply {
  return [idText(id), fields];
}

/** A bound of `XRANGE`: `-`, `+`, an id, or `(` and an id. */
function boundOf(text: string, isStart: boolean): StreamId {
  if (text === '-') return FIRST_ID;
  if (text === '+') return LAST_ID;
  if (!text.startsWith('(')) return parseId(text, isStart ? 0 : Number.MAX_SAFE_INTEGER);
  const { time, sequence } = parseId(text.slice(1), isStart ? 0 : Number.MAX_SAFE_INTEGER);
  if (isStart) return { time, sequence: sequence + 1 };
  return sequence > 0
    ? { time, sequence: sequence - 1 }
    : { time: time - 1, sequence: Number.MAX_SAFE_INTEGER };
}

function countOption(args: readonly string[]): number {
  if (args.length === 4) return Infinity;
  if (args.length !== 6 || at(args, 4).toUpperCase() !== 'COUNT') throw syntaxError();
  return Math.max(0, integer(at(args, 5)));
}

function range(isReversed: boolean) {
  return (db: Database, args: readonly string[]): Reply => {
    const [from, to] = isReversed ? [at(args, 3), at(args, 2)] : [at(args, 2), at(args, 3)];
    const count = countOption(args);
    const [start, end] = [boundOf(from, true), boundOf(to, false)];
    const stream = db.get(at(args, 1), Stream);
    if (!stream) return [];
    if (!isReversed) return stream.range(start, end, count).map(entryReply);
    return stream.range(start, end, Infinity).reverse().slice(0, count).map(entryReply);
  };
}

function deleteEntries(db: Database, args: readonly string[]): Reply {
  const stream = db.get(at(args, 1), Stream);
  const ids = args.slice(2).map((id) => parseId(id, 0));
  return stream ? ids.filter((id) => stream.delete(id)).length : 0;
}

/** What `XREAD` asks for. */
export interface StreamRead {
  /** Keys, each with the last id that is known. */
  readonly after: readonly (readonly [string, StreamId])[];
  readonly count: number;
  /** Milliseconds to wait, 0: for ever; undefined: not at all. */
  readonly block: number | undefined;
}

export function readStreamRead(db: Database, args: readonly string[]): StreamRead {
  let count = Infinity;
  let block: number | undefined;
  let index = 1;
  for (; at(args, index).toUpperCase() !== 'STREAMS'; index += 2) {
    const value = integer(at(args, index + 1), 'ERR timeout is not an integer or out of range');
    const name = at(args, index).toUpperCase();
    if (name === 'COUNT') count = value <= 0 ? Infinity : value;
    else if (name === 'BLOCK') block = value;
    else throw syntaxError();
  }
  const rest = args.slice(index + 1);
  if (rest.length === 0 || rest.length % 2 === 1)
    throw new RedisError(
      "ERR Unbalanced 'xread' list of streams: for each stream key an ID, '+', or '$' must be specified.",
    );
  const keys = rest.slice(0, rest.length / 2);
  const after = keys.map((key, position) => {
    const id = at(rest, keys.length + position);
    const last = db.get(key, Stream)?.lastId ?? FIRST_ID;
    return [key, id === '$' ? last : parseId(id, 0)] as const;
  });
  return { after, count, block };
}

/** What is there; null if nothing is. */
export function answerStreamRead(db: Database, { after, count }: StreamRead): Reply {
  const found: Reply[] = [];
  for (const [key, id] of after) {
    const entries = db.get(key, Stream)?.range(nextId(id), LAST_ID, count) ?? [];
    if (entries.length > 0) found.push([key, entries.map(entryReply)]);
  }
  return found.length > 0 ? found : null;
}

function info(db: Database, args: readonly string[]): Reply {
  if (at(args, 1).toUpperCase() !== 'STREAM' || args.length !== 3) throw syntaxError();
  const stream = db.get(at(args, 2), Stream);
  if (!stream) throw new RedisError('ERR no such key');
  const all = stream.range(FIRST_ID, LAST_ID, Infinity);
  const [first, last] = [all[0], all.at(-1)];
  const fields: Record<string, Reply> = {
    length: stream.size,
    'radix-tree-keys': stream.nodeCount,
    'last-generated-id': idText(stream.lastId),
    'entries-added': stream.added,
    groups: 0,
    'first-entry': first ? entryReply(first) : null,
    'last-entry': last ? entryReply(last) : null,
  };
  return Object.entries(fields).flat();
}

export const STREAM_COMMANDS: Commands = {
  XADD: grow(-5, add),
  XLEN: read(2, (db, args) => db.get(at(args, 1), Stream)?.size ?? 0),
  XRANGE: read(-4, range(false)),
  XREVRANGE: read(-4, range(true)),
  XDEL: write(-3, deleteEntries),
  XTRIM: write(-4, (db, args) => {
    const { trim, next } = readTrim(args, 2);
    if (next < args.length) throw syntaxError();
    return db.get(at(args, 1), Stream)?.trim(trim.goal, trim.isApproximate, trim.limit) ?? 0;
  }),
  XINFO: read(-2, info),
};
