import { Script } from '../connection/script.ts';

/**
 * `append(keys, share, entries, bytes, text)`: adds an entry to a stream. Each entry counts for a share: that of its namespace, or
 * of its caller in the audit log. If the stream is full, the oldest entries of the largest share are dropped (docs/adr/0049).
 * Returns the id of the entry; its field `dropped` has the dropped ones as `id=share`, for followers of the stream.
 *
 * `keys`: the stream and its shares, a sorted set of the numbers of entries. Beside it, `<shares>:<share>` lists the ids of a share,
 * oldest first. An id may be in a list after its entry is gone, and not the other way round, except for entries of earlier
 * versions: these become one share without a name.
 *
 * Bytes are checked at every 16th entry, because Redis visits all nodes of a stream to count them; the member '#' counts down the
 * entries. From 95 % on, the largest share gives way. Beyond 100 %, whole nodes (a hundred entries or 4 KB) are dropped, the oldest
 * first: an entry that remains keeps the bytes of its node.
 */
export const APPEND = `
local function trim(stream, bytes)
  for _ = 1, 30 do
    local used = redis.call('MEMORY', 'USAGE', stream, 'SAMPLES', 0)
    if not used or used <= bytes then return end
    local share = 0.9 * math.min(1, bytes / used)
    redis.call('XTRIM', stream, 'MAXLEN', '~', math.floor(redis.call('XLEN', stream) * share))
  end
end
local function count(shares, share)
  local left = redis.call('LLEN', shares .. ':' .. share)
  if left == 0 then return redis.call('ZREM', shares, share) end
  return redis.call('ZADD', shares, left, share)
end
local function shorten(stream, shares, length, most)
  local dropped = {}
  for _ = 1, 256 do
    local share = length > most and redis.call('ZREVRANGE', shares, 0, 0)[1]
    if not share then break end
    local id = redis.call('LPOP', shares .. ':' .. share)
    count(shares, share)
    if id and redis.call('XDEL', stream, id) == 1 then
      length = length - 1
      table.insert(dropped, id .. '=' .. share)
    end
  end
  if #dropped == 0 then return {} end
  return { 'dropped', table.concat(dropped, ' ') }
end
local function append(keys, share, entries, bytes, text)
  local stream, shares = unpack(keys)
  local length, most = redis.call('XLEN', stream), entries - 1
  local isTime = redis.call('ZINCRBY', shares, -1, '#') % 16 == 0
  if isTime and (redis.call('MEMORY', 'USAGE', stream, 'SAMPLES', 0) or 0) > 0.95 * bytes then
    most = math.min(most, math.floor(0.98 * length), math.max(length - 16, math.floor(length / 2)))
  end
  local dropped = shorten(stream, shares, length, most)
  local id = redis.call('XADD', stream, 'MAXLEN', '~', entries, '*', 'entry', text, unpack(dropped))
  local own = redis.call('RPUSH', shares .. ':' .. share, id)
  if redis.call('ZADD', shares, own, share) == 1 and redis.call('ZCOUNT', shares, 1, '+inf') == 1 then
    for _, earlier in ipairs(redis.call('XRANGE', stream, '-', '(' .. id)) do
      redis.call('RPUSH', shares .. ':', earlier[1])
    end
    count(shares, '')
  end
  if isTime then trim(stream, tonumber(bytes)) end
  return id
end
`;

/**
 * KEYS  1 stream, 2 its shares
 * ARGV  1 share, 2 most entries, 3 most bytes, 4 the entry
 *
 * Returns the id. A script so that the stream never exceeds its limits between writes.
 */
export const ADD_ENTRY = new Script(`${APPEND}
return append(KEYS, ARGV[1], ARGV[2], ARGV[3], ARGV[4])
`);

/**
 * Drops what is too old or too much, and forgets the ids of entries that are gone.
 *
 * KEYS  1 stream, 2 its shares
 * ARGV  1 most bytes, 2 the oldest time to keep (Unix ms)
 */
export const TRIM = new Script(`${APPEND}
local function timeOf(id) return tonumber(string.match(id, '^%d+')) end
-- Exactly: with '~', an entry stays until its whole node of up to a hundred entries is too old.
redis.call('XTRIM', KEYS[1], 'MINID', ARGV[2])
trim(KEYS[1], tonumber(ARGV[1]))
local first = redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', 1)[1]
local from = first and timeOf(first[1]) or math.huge
for _, share in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], 1, '+inf')) do
  local ids = KEYS[2] .. ':' .. share
  local id, gone = redis.call('LINDEX', ids, 0), false
  while id and timeOf(id) < from do
    redis.call('LPOP', ids)
    id, gone = redis.call('LINDEX', ids, 0), true
  end
  if gone then count(KEYS[2], share) end
end
`);
