import { RedisError } from '../replies.ts';
import type { Database } from '../store/database.ts';
import { integer, syntaxError } from './command.ts';

interface Expiry {
  /** `EX`, `PX`, `EXAT` or `PXAT`. */
  readonly unit: string;
  readonly amount: string;
  /** Whose error it is. */
  readonly command: string;
}

/** Returns when a value that is set expires (Unix ms). */
export function expiryOf(db: Database, { unit, amount, command }: Expiry): number {
  const isAbsolute = unit.endsWith('AT');
  if (!['EX', 'PX', 'EXAT', 'PXAT'].includes(unit)) throw syntaxError();
  const value = integer(amount) * (unit.startsWith('E') ? 1000 : 1);
  if (value <= 0) throw new RedisError(`ERR invalid expire time in '${command}' command`);
  return isAbsolute ? value : db.now + value;
}
