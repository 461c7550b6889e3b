import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { ClusterError } from '../../cluster/src/errors.ts';
import type { NamedProcess } from './measure/proc.ts';

export interface Launch {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

interface Running extends NamedProcess {
  readonly child: ChildProcess;
  readonly logFile: string;
}

/** Longer than a reloader may take to finish what it has in hand. */
const GRACE_MS = 30_000;
const LOG_LINES = 15;

/** Variables that a process may see of ours, besides those that it is given. */
const PASSED_ON = ['PATH', 'HOME', 'TMPDIR'];

/** The processes of a reloader: started together, always stopped, also when the bench is killed. */
export class Processes {
  readonly #logs: string;
  readonly #reaper = startReaper();
  #running: Running[] = [];

  /** `logs`: a folder for their outputs, one file each. */
  constructor(logs: string) {
    this.#logs = logs;
    mkdirSync(logs, { recursive: true });
  }

  get list(): readonly NamedProcess[] {
    return this.#running;
  }

  start(launch: Launch): NamedProcess {
    const logFile = join(this.#logs, `${launch.name}.log`);
    const log = openSync(logFile, 'a');
    const env = { ...inherited(), ...launch.env };
    // A session of its own: Ctrl-C in a terminal must not reach it before the bench has noticed.
    const child = spawn(launch.command, launch.args, { env, stdio: ['ignore', log, log], detached: true });
    closeSync(log);
    child.on('error', () => undefined);
    const { pid } = child;
    if (pid === undefined) throw new ClusterError(`could not start ${launch.name}: ${launch.command}`);
    this.#reaper.stdin?.write(`+${pid}\n`);
    child.once('exit', () => this.#reaper.stdin?.write(`-${pid}\n`));
    const running = { name: launch.name, pid, child, logFile };
    this.#running.push(running);
    return running;
  }

  /** @throws ClusterError with the end of its log when one of them has ended. */
  verify(): void {
    const ended = this.#running.find(({ child }) => hasEnded(child));
    if (ended === undefined) return;
    const how = ended.child.signalCode ?? `code ${String(ended.child.exitCode)}`;
    throw new ClusterError(
      `expected ${ended.name} to stay up, it ended (${how}); its last lines:\n${lastLines(ended.logFile)}`,
    );
  }

  /** Asks them to end, and ends those that do not in time. Safe to repeat. */
  async stop(): Promise<void> {
    const running = this.#running;
    this.#running = [];
    await Promise.all(running.map(async ({ child }) => await end(child)));
  }

  /** Stops them, and what watches over them. */
  async close(): Promise<void> {
    await this.stop();
    this.#reaper.stdin?.end();
  }

  /** Leaves them running for good. */
  release(): void {
    for (const { child, pid } of this.#running) {
      child.unref();
      this.#reaper.stdin?.write(`-${pid}\n`);
    }
    this.#running = [];
    this.#reaper.stdin?.end();
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

async function end(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), GRACE_MS);
  await gone;
  clearTimeout(timer);
}

function startReaper(): ChildProcess {
  const script = join(import.meta.dirname, 'reaper.ts');
  const child = spawn(process.execPath, [script], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  child.on('error', () => undefined);
  child.stdin.on('error', () => undefined);
  child.unref();
  if (child.stdin instanceof Socket) child.stdin.unref();
  return child;
}

function inherited(): Record<string, string> {
  const entries = PASSED_ON.map((name) => [name, process.env[name]] as const);
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined));
}

function lastLines(path: string): string {
  return readFileSync(path, 'utf8').trimEnd().split('\n').slice(-LOG_LINES).join('\n');
}
