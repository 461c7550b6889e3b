import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { TestRunner, afterAll, onTestFinished } from 'vitest';

const MAIN = join(import.meta.dirname, '..', 'src', 'main.ts');

/**
 * A path in a fresh temporary folder at which nothing exists yet; `parent` is that folder. It is removed after the test
 * that asks, or after the `describe`.
 */
export function freshDir(): { parent: string; dir: string } {
  const parent = mkdtempSync(join(tmpdir(), 'reroll-cluster-'));
  const remove = (): void => rmSync(parent, { recursive: true, force: true });
  if (TestRunner.getCurrentTest()) onTestFinished(remove);
  else afterAll(remove);
  return { parent, dir: join(parent, 'made', 'by-start') };
}

/** Pids of the live processes that have `dir` in their command line, or run in it: Redis writes over its command line. */
export function processesOf(dir: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => placeOf(pid).includes(dir))
    .map(Number);
}

/** The command line and the working directory; empty for a zombie and a process that is gone. */
function placeOf(pid: string): string {
  try {
    return `${readFileSync(`/proc/${pid}/cmdline`, 'utf8')} ${readlinkSync(`/proc/${pid}/cwd`)}`;
  } catch {
    return '';
  }
}

export interface CliRun {
  readonly pid: number;
  readonly done: Promise<{ code: number | null; stdout: string; stderr: string }>;
}

/** Runs the command line tool as a process of its own. */
export function cli(args: readonly string[], env: Readonly<Record<string, string>> = {}): CliRun {
  return script([MAIN, ...args], env);
}

/** Runs a TypeScript file as a process of its own. */
export function script(args: readonly string[], env: Readonly<Record<string, string>> = {}): CliRun {
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exit = new Promise<number | null>((resolve) => child.once('close', resolve));
  const outputs = Promise.all([exit, text(child.stdout), text(child.stderr)]);
  return {
    pid: child.pid ?? 0,
    done: outputs.then(([code, stdout, stderr]) => ({ code, stdout, stderr })),
  };
}
