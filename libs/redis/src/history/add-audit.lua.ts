import { APPEND } from './append.lua.ts';

/**
 * Adds an entry to the audit log. Each caller has a share of the log: beyond it, that caller's own oldest entry is dropped.
 *
 * KEYS  1 stream of the audit log, 2 list of the ids of this caller's entries, oldest first
 * ARGV  1 most entries, 2 most entries of one caller, 3 milliseconds for which the list is kept, 4 the entry, 5 most bytes of the
 *       stream
 *
 * Returns the id of the entry. An entry that replaced another one has that one's id as `dropped`, for followers of the stream.
 * Atomic because two admins may write for one caller, and the list must have all entries.
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
