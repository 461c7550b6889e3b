/** A file, because that is what the option of a process names. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const HASH_KEY = 'a key for the hashes of the simulation';

let path: string | undefined;

export function hashKeyFile(): string {
  if (path !== undefined) return path;
  path = join(mkdtempSync(join(tmpdir(), 'reroll-simulation-')), 'hash-keys');
  writeFileSync(path, HASH_KEY);
  return path;
}
