/** Files of the simulation, for options of the simulated processes that name a file. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let folder: string | undefined;

/** The path of a file with that name, in a folder that is removed when this process ends. */
export function pathOfFile(name: string): string {
  folder ??= temporaryFolder();
  return join(folder, name);
}

function temporaryFolder(): string {
  const path = mkdtempSync(join(tmpdir(), 'reroll-simulation-'));
  process.once('exit', () => rmSync(path, { recursive: true, force: true }));
  return path;
}
