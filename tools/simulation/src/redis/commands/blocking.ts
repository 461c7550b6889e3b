import { NO_ARRAY, RedisError, type Reply } from '../replies.ts';
import type { Database } from '../store/database.ts';
import { at, float } from './command.ts';
import { isLeftEnd, move, popFirst } from './list-commands.ts';
import { popFirstScored } from './sorted-set-commands.ts';
import { answerStreamRead, readStreamRead } from './stream-commands.ts';

/** A command that may wait. */
export interface Wait {
  /** Returns null while there is nothing to answer. */
  readonly attempt: () => Reply;
  /** Milliseconds, 0: for ever; undefined: it does not wait at all. */
  readonly timeout: number | undefined;
  /** The answer when it ends without. */
  readonly nothing: Reply;
}

export interface BlockingCommand {
  readonly arity: number;
  readonly kind: 'read' | 'write' | 'grow';
  readonly prepare: (db: Database, args: readonly string[]) => Wait;
}

function timeoutOf(text: string): number {
  const seconds = float(text, 'ERR timeout is not a float or out of range');
  if (seconds < 0) throw new RedisError('ERR timeout is negative');
  return Math.ceil(seconds * 1000);
}

function popping(pop: (db: Database, keys: readonly string[]) => Reply): BlockingCommand {
  return {
    arity: -3,
    kind: 'write',
    prepare: (db, args) => ({
      attempt: () => pop(db, args.slice(1, -1)),
      timeout: timeoutOf(at(args, args.length - 1)),
      nothing: NO_ARRAY,
    }),
  };
}

export const BLOCKING_COMMANDS: Readonly<Record<string, BlockingCommand>> = {
  BLPOP: popping((db, keys) => popFirst(db, keys, true)),
  BRPOP: popping((db, keys) => popFirst(db, keys, false)),
  BZPOPMIN: popping((db, keys) => popFirstScored(db, keys, false)),
  BZPOPMAX: popping((db, keys) => popFirstScored(db, keys, true)),
  BRPOPLPUSH: {
    arity: 4,
    kind: 'grow',
    prepare: (db, args) => ({
      attempt: () => move(db, { from: at(args, 1), to: at(args, 2), isFromLeft: false, isToLeft: true }),
      timeout: timeoutOf(at(args, 3)),
      nothing: null,
    }),
  },
  BLMOVE: {
    arity: 6,
    kind: 'grow',
    prepare: (db, args) => {
      const ends = { isFromLeft: isLeftEnd(at(args, 3)), isToLeft: isLeftEnd(at(args, 4)) };
      return {
        attempt: () => move(db, { from: at(args, 1), to: at(args, 2), ...ends }),
        timeout: timeoutOf(at(args, 5)),
        nothing: null,
      };
    },
  },
  XREAD: {
    arity: -4,
    kind: 'read',
    prepare: (db, args) => {
      const query = readStreamRead(db, args);
      return { attempt: () => answerStreamRead(db, query), timeout: query.block, nothing: NO_ARRAY };
    },
  },
};
