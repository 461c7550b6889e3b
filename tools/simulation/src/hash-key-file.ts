/** Files of hash keys, because that is what the option of a process names. */
import { writeFileSync } from 'node:fs';
import { pathOfFile } from './temporary-files.ts';

/** So many times at most are the keys of a run turned over. */
export const MOST_TURNS = 3;

let areWritten = false;

/** The keys after so many turns, the present one first. */
export function hashKeysAfter(turns: number): string[] {
  const numbers = Array.from({ length: turns + 1 }, (_, at) => turns - at);
  return numbers.map((number) => `key ${number} for the hashes of the simulation`);
}

/** The file with the keys after so many turns. */
export function hashKeyFile(turns: number): string {
  if (!areWritten) writeAll();
  areWritten = true;
  return pathAfter(turns);
}

/** Writes all files, so that no event of a run writes one. */
function writeAll(): void {
  for (let turns = 0; turns <= MOST_TURNS; turns += 1)
    writeFileSync(pathAfter(turns), hashKeysAfter(turns).join('\n'));
}

function pathAfter(turns: number): string {
  return pathOfFile(`hash-keys-after-${turns}`);
}
