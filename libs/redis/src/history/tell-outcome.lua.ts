import { Script } from '../connection/script.ts';
import { APPEND } from './append.lua.ts';

/**
 * Adds an outcome to the history, or only counts it. If a change enqueued more workloads than its entry lists, only the listed
 * workloads and the first that failed get an outcome of their own, within the bytes of one change. Outcomes that another one follows
 * (a hold, a failed attempt) have bytes of their own, so that they never take those of the last one, and are not counted.
 *
 * KEYS  1 stream of outcomes, 2 its shares, then the tallies (see `CatalogKeys.tallies`) of the sources that the outcome is for
 * ARGV  1 share, 2 most entries, 3 most bytes of the stream, 4 most bytes of such outcomes of one change, 5 the workload,
 *       6 'failed' for good, 'passing' if another outcome follows, or '', 7 the reason, 8 the entry
 *
 * Returns 1 if it was added, 0 if it was only counted. Atomic because all workers share the bytes of a change.
 */
export const TELL_OUTCOME = new Script(`${APPEND}
local function isAfter(a, b)
  for at = 1, math.min(#a, #b) do
    local x, y = string.byte(a, at), string.byte(b, at)
    if x ~= y then return x > y end
  end
  return #a > #b
end

local passing = ARGV[6] == 'passing'
local field = passing and 'passing-bytes' or 'bytes'
local kept = #KEYS == 2
for at = 3, #KEYS do
  local last = redis.call('HGET', KEYS[at], 'last')
  if not last then
    kept = true
  else
    local listed = not isAfter(ARGV[5], last)
    if not listed and not passing then redis.call('HINCRBY', KEYS[at], 'reason:' .. ARGV[7], 1) end
    if listed or ARGV[6] == 'failed' then
      local bytes = tonumber(redis.call('HGET', KEYS[at], field) or '0') + #ARGV[8]
      if bytes <= tonumber(ARGV[4]) then
        redis.call('HSET', KEYS[at], field, bytes)
        kept = true
      end
    end
  end
end
if not kept then return 0 end
append(KEYS, ARGV[1], ARGV[2], ARGV[3], ARGV[8])
return 1
`);

/**
 * Begins to count the outcomes of a change that enqueues more workloads than its entry lists.
 *
 * KEYS  1 the tally of the source
 * ARGV  1 since when (Unix ms), 2 the last listed workload, 3 how long to keep the tally (ms)
 *
 * Atomic because a tally must not outlive its time.
 */
export const BEGIN_TALLY = new Script(`
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'since', ARGV[1], 'last', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
`);
