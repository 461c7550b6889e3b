import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { identify, sendSignal } from './identity.ts';
import { interruptOnceAlone } from './orphans.ts';

export interface RunOptions {
  readonly cwd?: string;
  /** Added to the environment of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** Aborting sends SIGINT to the command and its children, as the end of this process does; the result then is the reason, thrown. */
  readonly signal?: AbortSignal | undefined;
  /** Called for every line of either output as it comes. */
  readonly onLine?: (line: string) => void;
}

export interface RunResult {
  /** Exit code; 128 when a signal ended it. */
  readonly code: number;
  readonly stdout: string;
  /** The last 20 lines of both outputs. */
  readonly tail: string;
}

const TAIL_LINES = 20;

/**
 * Runs a command to its end. A code other than 0 is a result, not an error.
 * @throws when the command cannot be started at all.
 */
export async function run(
  command: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<RunResult> {
  const { cwd, env = {}, signal, onLine } = options;
  signal?.throwIfAborted();
  // A group of its own, so that an abort reaches the compilers that `go build` has started.
  const child = spawn(command, args, {
    ...(cwd === undefined ? {} : { cwd }),
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const callOff = interruptOnceAlone(child.pid);
  const self = child.pid === undefined ? undefined : identify(child.pid);
  const interrupt = (): void => {
    if (self !== undefined) sendSignal(self, 'SIGINT');
  };
  signal?.addEventListener('abort', interrupt, { once: true });
  const lines: string[] = [];
  const stdout: string[] = [];
  const keep = (line: string): void => {
    lines.push(line);
    if (lines.length > TAIL_LINES) lines.shift();
    onLine?.(line);
  };
  readLines(child.stdout, (line) => {
    stdout.push(line);
    keep(line);
  });
  readLines(child.stderr, keep);
  try {
    const code = await new Promise<number>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (exit) => resolve(exit ?? 128));
    });
    signal?.throwIfAborted();
    return { code, stdout: stdout.join('\n'), tail: lines.join('\n') };
  } finally {
    callOff();
    signal?.removeEventListener('abort', interrupt);
  }
}

function readLines(stream: Readable, onLine: (line: string) => void): void {
  createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY }).on('line', onLine);
}

/** The path of an executable on PATH, or undefined. */
export function which(name: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
