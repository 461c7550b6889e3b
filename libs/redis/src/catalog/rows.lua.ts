import { Script } from '../connection/script.ts';

/**
 * Reads rows of a hash, until they take so many bytes.
 *
 * KEYS  1 the hash
 * ARGV  1 bytes, exceeded by at most one row, then the fields
 *
 * Returns the rows of the first fields, nil where there is none: at least one, and fewer than the fields if those rows took all bytes.
 */
export const ROWS = new Script(`
local left = tonumber(ARGV[1])
local rows = {}
for at = 2, #ARGV do
  if left <= 0 then break end
  local row = redis.call('HGET', KEYS[1], ARGV[at])
  rows[#rows + 1] = row
  if row then left = left - #row end
end
return rows
`);
