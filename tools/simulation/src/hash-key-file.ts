/** Files of hash keys, because that is what the option of a process names. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** So many times at most are the keys of a run turned over. */
export const MOST_TURNS = 3;

let folder: string | undefined;

/** The keys after so many turns, the present one first. */
export function hashKeysAfter(turns: number): string[] {
  const numbers = Array.from({ length: turns + 1 }, (_, at) => turns - at);
  return numbers.map((number) => `key ${number} for the hashes of the simulation`);
}

/** The file with the keys after so many turns. */
export function hashKeyFile(turns: number): string {
  folder ??= folderOfAll();
  return join(folder, `after-${turns}`);
}

/** With all files, so that no event of a run writes one. */
function folderOfAll(): string {
  const path = mkdtempSync(join(tmpdir(), 'reroll-simulation-'));
  for (let turns = 0; turns <= MOST_TURNS; turns += 1)
    writeFileSync(join(path, `after-${turns}`), hashKeysAfter(turns).join('\n'));
  return path;
}
