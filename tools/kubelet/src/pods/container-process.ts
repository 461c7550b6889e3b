import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { finished } from './exec.ts';
import type { Programs } from '../packages.ts';
import type { Identity } from './sandbox.ts';

export interface ProcessOptions {
  readonly programs: Programs;
  /** Arguments of nsenter that make the container. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly identity: Identity;
  /** Both outputs are appended to it. */
  readonly logFile: string;
}

/** What runs before the command does. */
const MAKERS: ReadonlySet<string> = new Set(['bwrap', 'setpriv']);

/** One run of a container. */
export class ContainerProcess {
  readonly startedAt = new Date().toISOString();
  /** The exit code; 128 and more for a signal. */
  readonly exited: Promise<number>;
  readonly #options: ProcessOptions;
  readonly #child: ChildProcess;
  readonly #pid: Promise<number | undefined>;

  constructor(options: ProcessOptions) {
    this.#options = options;
    const log = openSync(options.logFile, 'a');
    this.#child = spawn(options.programs.nsenter, options.args, {
      stdio: ['ignore', log, log, 'pipe'],
      env: { ...options.env },
      detached: true,
    });
    closeSync(log);
    this.exited = new Promise((resolve) => {
      this.#child.once('error', () => resolve(127));
      this.#child.once('exit', (code) => resolve(code ?? 137));
    });
    this.#pid = pidOf(this.#child.stdio[3] as Readable);
  }

  /** Of its first process, as the host sees it; undefined when it did not come to be. */
  pid(): Promise<number | undefined> {
    return this.#pid;
  }

  async signal(signal: NodeJS.Signals): Promise<void> {
    const pid = await this.#pid;
    if (pid === undefined || this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    try {
      process.kill(pid, signal);
    } catch {
      // It has ended by itself.
    }
  }

  /** Runs a command in the container, as its user, with its variables. Gives the exit code. */
  async exec(command: readonly string[], timeoutMs: number): Promise<number> {
    const { programs, identity, env } = this.#options;
    const { user, group, groups } = identity;
    const pid = await this.#pid;
    if (pid === undefined) return 127;
    const where = [`--target=${pid}`, '--mount', '--pid', '--net', '--ipc', '--uts', '--root', '--wd'];
    const as = [
      '/.kubelet/setpriv',
      `--reuid=${user}`,
      `--regid=${group}`,
      '--inh-caps=-all',
      '--bounding-set=-all',
      groups.length === 0 ? '--clear-groups' : `--groups=${groups.join(',')}`,
    ];
    const all = [...where, '--', ...as, '--', ...command];
    return (await finished(programs.nsenter, all, { env, timeoutMs })).code;
  }
}

/** bwrap tells it as JSON when it begins to make the container; it is made when another program runs there. */
async function pidOf(info: Readable): Promise<number | undefined> {
  try {
    const { 'child-pid': pid } = JSON.parse(await text(info)) as { 'child-pid': number };
    while (MAKERS.has(basename(readlinkSync(`/proc/${pid}/exe`)))) await pause(5);
    return pid;
  } catch {
    // It has ended before.
    return undefined;
  }
}
