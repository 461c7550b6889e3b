import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './wait.ts';

export interface Launch {
  /** Also the name of its log. */
  readonly name: string;
  readonly args: readonly string[];
  /** Default: this Node.js. */
  readonly command?: string;
  /** Folder that it is started in. Default: that of the test runner. */
  readonly cwd?: string;
  readonly env: Readonly<Record<string, string>>;
  /** Folder for its log, which is then not removed. Default: one of its own. */
  readonly logs?: string;
}

/** Longer than an app takes to finish what it has in hand. */
const GRACE_MS = 30_000;
const LINES_OF_FAILED_TEST = 40;
/** Hundreds of processes of the same bundles are started: each compiles what the one before it has not. */
export const COMPILE_CACHE = join(tmpdir(), 'reroll-e2e-compiled');
const ADDRESS = /msg="?serving metrics and health"?.*address="?([^\s"]+)/;
const API_ADDRESS = /msg="?serving the API"?.*address="?([^\s"]+)/;

/** A process of ours, and what can be seen of it from outside. Whoever starts one has to `discard` it. */
export class App {
  readonly name: string;
  readonly pid: number;
  /** Exit code, or the signal that ended it. */
  readonly exited: Promise<number | NodeJS.Signals>;
  readonly #child: ChildProcess;
  readonly #logFile: string;
  readonly #scratch: string | undefined;
  #isReleased = false;

  constructor(launch: Launch) {
    if (launch.logs !== undefined) mkdirSync(launch.logs, { recursive: true });
    const folder = launch.logs ?? mkdtempSync(join(tmpdir(), 'reroll-e2e-log-'));
    if (launch.logs === undefined) this.#scratch = folder;
    this.name = launch.name;
    this.#logFile = join(folder, `${launch.name}.log`);
    const log = openSync(this.#logFile, 'a');
    this.#child = spawn(launch.command ?? process.execPath, launch.args, {
      // Nothing of the test runner's environment: an option must not come from there by accident.
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: process.env['HOME'] ?? '',
        NODE_COMPILE_CACHE: COMPILE_CACHE,
        ...launch.env,
      },
      ...(launch.cwd === undefined ? {} : { cwd: launch.cwd }),
      stdio: ['ignore', log, log],
      detached: true,
    });
    closeSync(log);
    const { pid } = this.#child;
    if (pid === undefined) throw new Error(`could not start ${launch.name}`);
    this.pid = pid;
    report(`+${pid}`);
    this.exited = new Promise((resolve) => {
      this.#child.once('exit', (code, signal) => {
        report(`-${pid}`);
        resolve(signal ?? code ?? -1);
      });
    });
    logsOfFailures.set(this, () => `--- ${this.name}\n${lastLines(this.logs())}`);
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** All that it has written to standard output and error. */
  logs(): string {
    return existsSync(this.#logFile) ? readFileSync(this.#logFile, 'utf8') : '';
  }

  /** `http://127.0.0.1:PORT`, once it serves there. */
  async url(): Promise<string> {
    const address = await eventually(() => ADDRESS.exec(this.#alive().logs())?.[1], {
      what: `${this.name} to serve metrics and health`,
      within: 30_000,
    });
    return `http://${address}`;
  }

  /** The same of an admin's API. */
  async apiUrl(): Promise<string> {
    const address = await eventually(() => API_ADDRESS.exec(this.#alive().logs())?.[1], {
      what: `${this.name} to serve the API`,
      within: 30_000,
    });
    return `http://${address}`;
  }

  /** Status of `/ready`, `/live`, …; 0 if there is no answer. */
  async status(path: string): Promise<number> {
    try {
      const answer = await fetch((await this.url()) + path, { signal: AbortSignal.timeout(5_000) });
      await answer.arrayBuffer();
      return answer.status;
    } catch {
      return 0;
    }
  }

  async ready(within = 30_000): Promise<void> {
    const isReady = async (): Promise<boolean> => (await this.#alive().status('/ready')) === 200;
    await eventually(isReady, { what: `${this.name} to be ready`, within });
  }

  async metrics(): Promise<string> {
    const answer = await fetch(`${await this.url()}/metrics`);
    return await answer.text();
  }

  /** SIGKILL resolves when it is gone; other signals at once. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (!this.isRunning) return;
    this.#child.kill(signal);
    if (signal === 'SIGKILL') await this.exited;
  }

  /** Asks it to end, and ends it if it does not in time; also if it is stopped by a signal. Safe to repeat. */
  async stop(): Promise<number | NodeJS.Signals> {
    if (this.isRunning) {
      this.#child.kill('SIGTERM');
      this.#child.kill('SIGCONT');
      const timer = setTimeout(() => this.#child.kill('SIGKILL'), GRACE_MS);
      await this.exited;
      clearTimeout(timer);
    }
    return await this.exited;
  }

  /** Kills it, because nothing that it would still do matters, and removes what it has written. */
  async discard(): Promise<void> {
    if (!this.#isReleased) await this.kill();
    logsOfFailures.delete(this);
    if (this.#scratch !== undefined) rmSync(this.#scratch, { recursive: true, force: true });
  }

  /** Leaves it running after this process. */
  release(): void {
    report(`-${this.pid}`);
    this.#child.unref();
    this.#isReleased = true;
  }

  /** @throws Error with the end of its log when it has ended. */
  verify(): void {
    this.#alive();
  }

  #alive(): this {
    if (this.isRunning) return this;
    throw new Error(`${this.name} ended; its last lines:\n${lastLines(this.logs())}`);
  }
}

/** What a failed test shows, by what it belongs to. */
export const logsOfFailures = new Map<object, () => string>();
let reaper: ChildProcess | undefined;

/** The last lines of a log. */
export function lastLines(text: string): string {
  return text.trimEnd().split('\n').slice(-LINES_OF_FAILED_TEST).join('\n');
}

/** The reaper ends what is left if this process is killed: the system closes its standard input then. */
function report(line: string): void {
  reaper ??= startReaper();
  reaper.stdin?.write(`${line}\n`);
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
