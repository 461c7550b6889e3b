import { APPEND } from './append.lua.ts';

/**
 * Adds an entry to the audit log. A caller has a share of it: beyond it their own oldest entry goes, and nobody else's.
 *
 * KEYS  1 stream of the audit log, 2 list of the ids of this caller's entries, the oldest first
 * ARGV  1 most entries, 2 most of one caller, 3 milliseconds for which the list is kept, 4 the entry,
 *       5 most bytes of the stream
 * Gives the id of the entry. An entry for which another one went has that one's id as `dropped`, for those who follow the
 * stream. Atomic because two admins may write for one caller: the list must have every entry of theirs.
 */
export const ADD_AUDIT = `${APPEND}
local dropped = {}
while redis.call('LLEN', KEYS[2]) >= tonumber(ARGV[2]) do
  dropped = { 'dropped', redis.call('LPOP', KEYS[2]) }
  redis.call('XDEL', KEYS[1], dropped[2])
end
local id = redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[1], '*', 'entry', ARGV[4], unpack(dropped))
trimAtTimes(KEYS[1], ARGV[5])
redis.call('RPUSH', KEYS[2], id)
redis.call('PEXPIRE', KEYS[2], ARGV[3])
return id
`;
