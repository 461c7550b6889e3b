import { execFile } from 'node:child_process';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../../..');

/** Nothing that is run here takes as long, in milliseconds. */
const LONGEST = 300_000;

export interface Ended {
  /** `null`: it had to be killed, because it did not end. */
  readonly code: number | null;
  readonly output: string;
}

/** Runs Node.js in the root of the repository. Never rejects. */
export function runNode(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<Ended> {
  const env = { ...process.env, ...environment };
  const options = { cwd: ROOT, env, timeout: LONGEST, killSignal: 'SIGKILL', maxBuffer: 2 ** 28 } as const;
  return new Promise((resolve) => {
    execFile(process.execPath, [...args], options, (error, stdout, stderr) => {
      const code = error === null ? 0 : error.code;
      resolve({ code: typeof code === 'number' ? code : null, output: `${stdout}\n${stderr}` });
    });
  });
}

/** The last line that says something, for a message. */
export function lastLine(output: string): string {
  return output.trim().split('\n').at(-1) ?? '';
}
