import { Script } from '@reroll/redis/connection/script';

/**
 * Keeps what became of a write, unless another holds its key by now. Each caller has a share of all answers: beyond it, that caller's own
 * oldest ones are dropped, and beyond all places the oldest of all.
 *
 * KEYS  1 the key, 2 sorted set of the places of this caller, 3 of those of all
 * ARGV  1 what we wrote at the key, 2 what becomes of it, 3 seconds for which that is kept, 4 places that it takes, 5 most places of a
 *       caller, 6 most places of all
 *
 * A place is the name of a key, and more places of the same key follow it. The set of a caller may have some that were dropped as the oldest
 * of all; they are the oldest there, too. A place may also be left of an answer that has expired: if a write holds its key again, that
 * stays. Ages are by the clock of Redis, because those of two admins may differ.
 */
export const KEEP_ANSWER = new Script(`
local held = redis.call('GET', KEYS[1])
if held and held ~= ARGV[1] then return 0 end
local time = redis.call('TIME')
local now = time[1] .. string.format('%06d', time[2])
local function take(places)
  for place = 1, tonumber(ARGV[4]) do
    redis.call('ZADD', places, now, place == 1 and KEYS[1] or KEYS[1] .. ' ' .. place)
  end
  redis.call('EXPIRE', places, ARGV[3])
end
local function drop(oldest)
  local text = redis.call('GET', oldest)
  if text and (string.find(text, '"answer":', 1, true) or string.find(text, '"isLost":', 1, true)) then
    redis.call('DEL', oldest)
  end
end
local function trim(places, most)
  while redis.call('ZCARD', places) > tonumber(most) do
    local oldest = redis.call('ZPOPMIN', places)[1]
    drop(oldest)
    redis.call('ZREM', KEYS[3], oldest)
  end
end
take(KEYS[3])
take(KEYS[2])
redis.call('SET', KEYS[1], ARGV[2], 'EX', ARGV[3])
trim(KEYS[3], ARGV[6])
trim(KEYS[2], ARGV[5])
return 1
`);
