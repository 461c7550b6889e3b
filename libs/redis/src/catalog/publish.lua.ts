import { Script } from '../connection/script.ts';

/**
 * Writes rows of the catalog and keeps the index.
 *
 * KEYS  1 writer, 2 sources, 3 workloads, 4 prefix of the index's sets, 5 before
 * ARGV  1 term, 2 sequence of this leader's previous write ('' if this one begins a chain), 3 sequence of this one, 4 number of
 *       sources n, then n times (key, row, how the change was found: 'event', 'list', or '' if no change job comes), then pairs
 *       (key, row) of workloads; an empty row removes, for both
 *
 * Returns `{-1}` if a newer term has written. Returns `{1}` and writes nothing if the previous write is missing (Redis was emptied
 * or set back in time) or a later one is there (this is a delayed copy). Otherwise returns `{0, key…}` with the sources that exist
 * and whose hash differs from the previous one under the same scheme, or that did not exist before. If this very write is there
 * already, its reply was lost: nothing is written, and the keys are those of its sources whose change is still to be reported.
 *
 * A source row with an unchanged version stays, unless its hash has another scheme (its writer was given another key), or it has
 * other content than dates: its writer has other settings, such as names of annotations, or is of another release, or saw a later
 * write of the SecretProviderClass, which does not change the versions. An invalid row is replaced. For a source with a change job,
 * `before` gets how the change was found and the previous hash (`event:1.A`; nothing after the colon if there was none), unless it
 * holds one of a change that was not reported yet.
 *
 * A workload's row that is as it was gets all its entries of the index again, in case some were lost; one that changed gets only those
 * that it did not have, because Redis serves nobody else meanwhile. Entries are added before the row and removed after it.
 *
 * The writer is set last, so a call that ended in an error may be repeated as if it had not been made. No text of a row is an error: it
 * would be repeated for ever, and nothing would be written after it. A row that the script cannot read is written as it is.
 *
 * Atomic because a leader that was frozen must not overwrite what its successor wrote, because a source row may only move forward,
 * and because a workload's row and its index entries belong together.
 */
export const PUBLISH = new Script(`
local function newer(a, b)
  if #a ~= #b then return #a > #b end
  return a > b
end
local function scheme(hash) return string.match(hash, '^[^.]*') end
local function sourceOf(text)
  local ok, row = pcall(cjson.decode, text)
  if ok and type(row) == 'table' and type(row.h) == 'string' and type(row.v) == 'string' then return row end
end
local function isSame(a, b)
  if type(a) ~= 'table' or type(b) ~= 'table' then return a == b end
  for name, value in pairs(a) do
    if not isSame(value, b[name]) then return false end
  end
  for name in pairs(b) do
    if a[name] == nil then return false end
  end
  return true
end
-- Dates follow from what a writer saw of the source, and an earlier writer may have seen more.
local DATES = { d = true, m = true, x = true, c = true, r = true, w = true }
local function hasOther(row, old)
  for name, value in pairs(row) do
    if not DATES[name] and not isSame(value, old[name]) then return true end
  end
  return false
end
local function hasOtherFacts(is, was)
  if type(was.n) == 'string' and (type(is.n) ~= 'string' or newer(was.n, is.n)) then return false end
  return hasOther(is, was) or hasOther(was, is)
end
local function indexOf(text)
  local ok, row = pcall(cjson.decode, text)
  local index = {}
  if ok and type(row) == 'table' and type(row.i) == 'table' then
    for _, source in ipairs(row.i) do
      if type(source) == 'string' then index[#index + 1] = source end
    end
  end
  return index
end
local function without(sources, others)
  local has, rest = {}, {}
  for _, source in ipairs(others) do has[source] = true end
  for _, source in ipairs(sources) do
    if not has[source] then rest[#rest + 1] = source end
  end
  return rest
end

local term, sequence = ARGV[1], ARGV[3]
local writer = redis.call('GET', KEYS[1])
if writer then
  local held, last = string.match(writer, '^([^:]*):?(.*)$')
  if newer(held, term) then return { -1 } end
  if held == term and newer(last, sequence) then return { 1 } end
end
local reply = { 0 }
local count = tonumber(ARGV[4])
if writer == term .. ':' .. sequence then
  for n = 1, count do
    local key, text = ARGV[2 + 3 * n], ARGV[3 + 3 * n]
    if text ~= '' and redis.call('HGET', KEYS[5], key) then reply[#reply + 1] = key end
  end
  return reply
end
if ARGV[2] ~= '' and writer ~= term .. ':' .. ARGV[2] then return { 1 } end

for n = 1, count do
  local key, text, found = ARGV[2 + 3 * n], ARGV[3 + 3 * n], ARGV[4 + 3 * n]
  local old = redis.call('HGET', KEYS[2], key)
  local write = text ~= ''
  local was = old and sourceOf(old)
  local is = was and write and sourceOf(text)
  if not write then
    redis.call('HDEL', KEYS[2], key)
    redis.call('HDEL', KEYS[5], key)
  elseif is then
    local isChanged = is.h ~= was.h and scheme(is.h) == scheme(was.h)
    local isRehashed = is.v == was.v and scheme(is.h) ~= scheme(was.h)
    local isRemade = is.v == was.v and not isChanged and hasOtherFacts(is, was)
    write = newer(is.v, was.v) or isRehashed or isRemade
    if write and is.x ~= 0 and (isChanged or was.x == 0) then
      reply[#reply + 1] = key
      if found == '' then found = 'list' end
    end
    if write and found ~= '' and (isChanged or is.x ~= was.x) then
      local hash = was.h
      if was.x == 0 then hash = '' end
      redis.call('HSETNX', KEYS[5], key, found .. ':' .. hash)
    end
  elseif found == 'event' then
    redis.call('HSETNX', KEYS[5], key, found .. ':')
  end
  if write then redis.call('HSET', KEYS[2], key, text) end
end

for at = 5 + 3 * count, #ARGV, 2 do
  local key, text = ARGV[at], ARGV[at + 1]
  local old = redis.call('HGET', KEYS[3], key)
  local was = old and old ~= text and indexOf(old) or {}
  local is = text ~= '' and indexOf(text) or {}
  for _, source in ipairs(without(is, was)) do redis.call('SADD', KEYS[4] .. source, key) end
  if text == '' then
    redis.call('HDEL', KEYS[3], key)
  elseif old ~= text then
    redis.call('HSET', KEYS[3], key, text)
  end
  for _, source in ipairs(without(was, is)) do redis.call('SREM', KEYS[4] .. source, key) end
end
redis.call('SET', KEYS[1], term .. ':' .. sequence)
return reply
`);
