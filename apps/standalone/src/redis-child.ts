import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { lstat, mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { SettingsError } from '@reroll/nest/settings-error';
import type { Logger } from '@reroll/shared/platform/logging/logging';
import { shown } from '@reroll/shared/platform/options/parsing/arguments';
import type { Counter } from 'prom-client';

/** The first one on the PATH is used. */
const PROGRAMS = ['redis-server', 'valkey-server'] as const;
/** The system closes the pipe to it however this process ends, SIGKILL included; a line before that calls it off. */
const ONCE_ALONE = 'read -r _ || { kill -s KILL "$1"; rm -rf -- "$2"; }';
/** Milliseconds. */
const STARTS_WITHIN = 10_000;
const LOOK_EVERY = 10;
const MIN_PAUSE = 100;
const MAX_PAUSE = 5_000;
/** One that ran for so many milliseconds had started well. */
const RAN_WELL = 60_000;
/** Starts in a row that went wrong. */
const MOST_FAILURES = 10;
/** Characters of its last output that are logged if it ends. */
const SAID = 500;

export interface RedisChildSettings {
  /** Only this user may enter it; made if it is not there, and removed with its contents when the server stops. */
  readonly folder: string;
  /** As Redis reads it: `320mb`. */
  readonly maxMemory: string;
  readonly log: Logger;
  readonly restarts: Pick<Counter, 'inc'>;
  /** Called when it has ended again and again, and is not started any more. */
  readonly onGivenUp: (error: Error) => void;
}

/** The path of a folder that is not there yet. */
export function redisFolder(): string {
  return join(tmpdir(), `reroll-redis-${randomBytes(6).toString('hex')}`);
}

/** The path of the server's socket. */
export function socketIn(folder: string): string {
  return join(folder, 'redis.sock');
}

/**
 * A redis-server that this process keeps running: on a Unix socket in a private folder, without persistence. If it ends, it is
 * started again, empty. Nothing is lost with it, because the workloads say what they were reloaded for.
 */
export class RedisChild {
  readonly #settings: RedisChildSettings;
  #child: ChildProcess | undefined;
  #startedAt = 0;
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;
  #isStopping = false;
  #said = '';

  constructor(settings: RedisChildSettings) {
    this.#settings = settings;
  }

  /** Resolves when it listens. Rejects with a `SettingsError` if there is no such program, or no place for its folder. */
  async start(): Promise<void> {
    for (const program of PROGRAMS) {
      const child = await this.#spawn(program);
      if (child) return await this.#listens(child);
    }
    const programs = PROGRAMS.join(' or ');
    throw new SettingsError(`expected --redis-url, --redis-host, or ${programs} on the PATH; given none`);
  }

  /** Ends it at once, as it has no data to save: one that does not react to SIGTERM could outlive this process. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    clearTimeout(this.#timer);
    const child = this.#child;
    if (child && isRunning(child)) {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
    await rm(this.#settings.folder, { recursive: true, force: true });
  }

  /** Undefined if there is no such program. */
  async #spawn(program: string): Promise<ChildProcess | undefined> {
    const { folder } = this.#settings;
    await makePrivate(folder);
    if (this.#isStopping) throw new Error('redis-server is not started any more: the process ends');
    // In a session of its own, so that Ctrl-C in a terminal reaches this process alone, which then ends it last.
    const child = spawn(program, this.#arguments(), {
      cwd: folder,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    try {
      await once(child, 'spawn');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
    if (this.#isStopping) child.kill('SIGKILL');
    endOnceAlone(child, folder);
    this.#child = child;
    this.#startedAt = performance.now();
    this.#said = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.#said = (this.#said + text).slice(-SAID);
      });
    child.once('exit', (code, signal) => this.#ended(code, signal));
    return child;
  }

  #arguments(): string[] {
    const { folder, maxMemory } = this.#settings;
    const settings = {
      port: '0',
      unixsocket: socketIn(folder),
      unixsocketperm: '700',
      dir: folder,
      save: '',
      appendonly: 'no',
      maxmemory: maxMemory,
      'maxmemory-policy': 'noeviction',
      // With 10, the default, a delayed job begins up to 100 ms late.
      hz: '100',
      loglevel: 'warning',
    };
    return Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
  }

  async #listens(child: ChildProcess): Promise<void> {
    const deadline = performance.now() + STARTS_WITHIN;
    while (!existsSync(socketIn(this.#settings.folder))) {
      if (!isRunning(child) || performance.now() > deadline)
        throw new Error(`redis-server does not listen: ${this.#said.trim()}`);
      await pause(LOOK_EVERY);
    }
  }

  #ended(code: number | null, signal: NodeJS.Signals | null): void {
    if (this.#isStopping) return;
    const { log } = this.#settings;
    this.#failures = performance.now() - this.#startedAt < RAN_WELL ? this.#failures + 1 : 1;
    const end = signal ?? code ?? 0;
    log.error('redis-server has ended', { end, failures: this.#failures, said: this.#said.trim() });
    this.#startSoon();
  }

  #startSoon(): void {
    if (this.#failures >= MOST_FAILURES)
      return this.#settings.onGivenUp(
        new Error(`${MOST_FAILURES} starts of redis-server in a row went wrong`),
      );
    const milliseconds = Math.min(MIN_PAUSE * 2 ** (this.#failures - 1), MAX_PAUSE);
    this.#timer = setTimeout(() => void this.#again(), milliseconds);
  }

  async #again(): Promise<void> {
    const { log, restarts } = this.#settings;
    const failures = this.#failures;
    restarts.inc();
    try {
      await this.start();
      log.info('redis-server runs again, empty');
    } catch (error) {
      // One that has ended meanwhile is started again anyway.
      if (this.#isStopping || this.#failures !== failures) return;
      log.failure('redis-server cannot be started', error, { failures: failures + 1 });
      // One that runs and does not listen has failed when it has ended.
      if (this.#child && isRunning(this.#child)) return void this.#child.kill('SIGKILL');
      this.#failures += 1;
      this.#startSoon();
    }
  }
}

/**
 * Ends the server, and removes its folder, if this process ends first. The image has no shell and needs none: what runs in a container
 * ends with its first process.
 */
function endOnceAlone(server: ChildProcess, folder: string): void {
  const watch = spawn('/bin/sh', ['-c', ONCE_ALONE, 'sh', String(server.pid), folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  watch.on('error', () => undefined);
  watch.stdin.on('error', () => undefined);
  server.once('exit', () => watch.stdin.end('\n'));
}

/**
 * Makes the folder, also if a cleaner of temporary files has removed it. Rejects with a `SettingsError` if it cannot be made, or is that
 * of another user.
 */
async function makePrivate(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const given = `${shown(dirname(folder))} (${code})`;
    if (code !== 'EEXIST')
      throw new SettingsError(`expected TMPDIR to be a folder that can be written to, given ${given}`);
  }
  if ((await lstat(folder)).uid !== process.geteuid?.())
    throw new SettingsError('expected a folder of this user for redis-server, given one of another');
}

function isRunning({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null;
}
