import { Script } from '../connection/script.ts';
import { APPEND } from './append.lua.ts';

/**
 * Writes the progress of rollouts, as the leader sees it, or the slots that it grants (`rollout-slots.ts`).
 *
 * KEYS  1 writer, 2 rollouts or slots, 3 the history of rollouts, 4 its shares
 * ARGV  1 term, 2 most entries and most bytes of the history, as 'entries:bytes', 3 number n of rollouts under way, then n pairs
 *       (workload, entry), 4 + 2n number m of those that are not, then m workloads, then pairs (share, entry) for the history
 *
 * Returns 1; or 0, without writing, if a newer term has written. Atomic because a leader that was frozen must not overwrite what
 * its successor wrote.
 */
export const WRITE_ROLLOUTS = new Script(`${APPEND}
local term = ARGV[1]
local writer = redis.call('GET', KEYS[1])
if writer then
  local held = string.match(writer, '^[^:]*')
  if #held > #term or (#held == #term and held > term) then return 0 end
end
local at = 3
for n = 1, tonumber(ARGV[at]) do
  redis.call('HSET', KEYS[2], ARGV[at + 2 * n - 1], ARGV[at + 2 * n])
end
at = at + 2 * tonumber(ARGV[at]) + 1
for n = 1, tonumber(ARGV[at]) do
  redis.call('HDEL', KEYS[2], ARGV[at + n])
end
at = at + tonumber(ARGV[at]) + 1
local entries, bytes = string.match(ARGV[2], '^(%d+):(%d+)$')
for n = at, #ARGV, 2 do
  append({ KEYS[3], KEYS[4] }, ARGV[n], entries, bytes, ARGV[n + 1])
end
return 1
`);
