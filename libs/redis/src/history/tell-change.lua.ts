import { Script } from '../connection/script.ts';
import { APPEND } from './append.lua.ts';

/**
 * Adds a change to the history, and sets the state from which the next change of its source is reported.
 *
 * KEYS  1 before, 2 sources, 3 stream of changes, 4 its shares
 * ARGV  1 source, 2 the reported hash ('' if the source does not exist), 3 share, 4 most entries, 5 most bytes of the stream, 6 the
 *       entry
 *
 * If the row in the catalog differs from the reported state, another change is still to be reported, or this one was reported
 * before its row was written: `before` gets the reported state. Otherwise `before` loses its entry. Atomic because a change that is
 * published meanwhile must find one or the other.
 */
export const TELL_CHANGE = new Script(`${APPEND}
append({ KEYS[3], KEYS[4] }, ARGV[3], ARGV[4], ARGV[5], ARGV[6])
local text, held = redis.call('HGET', KEYS[2], ARGV[1]), ''
if text then
  local ok, row = pcall(cjson.decode, text)
  if ok and type(row) == 'table' and row.x ~= 0 then held = row.h end
end
if held == ARGV[2] then
  redis.call('HDEL', KEYS[1], ARGV[1])
else
  redis.call('HSET', KEYS[1], ARGV[1], 'event:' .. ARGV[2])
end
`);
