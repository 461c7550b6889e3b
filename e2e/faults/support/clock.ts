import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cleanUp } from '../../support/cleanup.ts';
import type { App } from '../../support/processes.ts';
import { eventually } from '../../support/wait.ts';

/** Lets the clocks of processes jump. It ends with the test or the file. */
export class Clocks {
  /** Variables of the processes whose clocks may jump. */
  readonly env: Readonly<Record<string, string>>;
  readonly #file: string;

  constructor() {
    const folder = mkdtempSync(join(tmpdir(), 'reroll-clock-'));
    cleanUp(() => rmSync(folder, { recursive: true, force: true }));
    this.#file = join(folder, 'off');
    const program = join(import.meta.dirname, 'jumping-clock.ts');
    this.env = { NODE_OPTIONS: `--import=${program}`, JUMPING_CLOCK: this.#file };
  }

  /** From now on the clock of this process is off by so many minutes; 0: it is right again. One process at a time. */
  async jump(app: App, minutes: number): Promise<void> {
    const offMs = minutes * 60_000;
    writeFileSync(this.#file, String(offMs));
    await app.kill('SIGUSR2');
    const what = `the clock of ${app.name} to jump`;
    await eventually(() => app.logs().includes(`clock off by ${offMs} ms`), { what });
  }
}
