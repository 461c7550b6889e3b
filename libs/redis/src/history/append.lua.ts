/**
 * `append(stream, entries, bytes, text)`: adds an entry to a stream and drops the oldest ones beyond either limit, in whole nodes
 * of the stream (a hundred entries or 4 KB). Returns the id of the entry. Bytes are checked at every 16th entry, because Redis
 * visits all nodes to count them, so up to 15 more entries can remain.
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
local function trimAtTimes(stream, bytes)
  if redis.call('XLEN', stream) % 16 == 0 then trim(stream, tonumber(bytes)) end
end
local function append(stream, entries, bytes, text)
  local id = redis.call('XADD', stream, 'MAXLEN', '~', entries, '*', 'entry', text)
  trimAtTimes(stream, bytes)
  return id
end
`;

/**
 * KEYS  1 stream
 * ARGV  1 most entries, 2 most bytes, 3 the entry
 *
 * Returns the id. A script so that the stream never exceeds its limits between writes.
 */
export const ADD_ENTRY = `${APPEND}
return append(KEYS[1], ARGV[1], ARGV[2], ARGV[3])
`;

/**
 * KEYS  1 stream
 * ARGV  1 most bytes
 */
export const TRIM_BYTES = `${APPEND}
trim(KEYS[1], tonumber(ARGV[1]))
`;
