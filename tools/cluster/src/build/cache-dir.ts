import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/**
 * The folder that holds what is built or fetched once a machine.
 * `REROLL_CACHE_DIR` when it is set, otherwise `~/.cache/reroll`. It need not exist.
 */
export function cacheRoot(): string {
  const given = process.env['REROLL_CACHE_DIR'];
  return given === undefined || given === '' ? join(homedir(), '.cache', 'reroll') : resolve(given);
}
