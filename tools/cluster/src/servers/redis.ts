import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { claimFolder } from '../folder.ts';
import { type Guard, guard } from './guard.ts';
import { freePort } from './ports.ts';
import { type RedisSource, ensureRedis } from '../build/redis-install.ts';
import { Stack } from './stack.ts';
import type { Launch } from '../state.ts';

export interface RedisOptions {
  /** Everything is written below it; created when needed. */
  readonly dir: string;
  /** Progress; default: none. */
  readonly log?: (line: string) => void;
  readonly signal?: AbortSignal;
}

/** A Redis that this process started. */
export interface Redis {
  readonly dir: string;
  readonly url: string;
  readonly port: number;
  /** Of the present run; changes with `restart`. */
  readonly pid: number;
  /** Default SIGKILL. Resolves when it is gone (other signals than SIGKILL and SIGTERM: at once). */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Same port, same data; resolves when it has loaded them. Ends it first if it runs. */
  restart(): Promise<void>;
  /** Ends it and removes what it wrote. */
  stop(): Promise<void>;
}

export function redisDataDir(dir: string): string {
  return join(dir, 'redis');
}

export function redisUrl(port: number): string {
  return `redis://127.0.0.1:${port}`;
}

/** How Redis is started: append-only file synced every second, no snapshots, nothing evicted. */
export function redisLaunch(options: { dir: string; port: number; source: RedisSource }): Launch {
  const { dir, port, source } = options;
  const data = redisDataDir(dir);
  mkdirSync(data, { recursive: true });
  if (source.kind === 'program') {
    const args = serverArgs({ bind: '127.0.0.1', port, data });
    return { name: 'redis', port, command: source.path, args };
  }
  const container = { runtime: source.runtime, name: `reroll-redis-${randomUUID().slice(0, 8)}` };
  return {
    name: 'redis',
    port,
    container,
    command: source.runtime,
    args: containerArgs(options, source.image, container.name),
  };
}

function serverArgs({ bind, port, data }: { bind: string; port: number; data: string }): string[] {
  const settings = {
    bind,
    port: String(port),
    dir: data,
    save: '',
    appendonly: 'yes',
    appendfsync: 'everysec',
    'maxmemory-policy': 'noeviction',
    hz: '100',
    'protected-mode': 'no',
  };
  return Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
}

function containerArgs(options: { dir: string; port: number }, image: string, name: string): string[] {
  const user = `${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`;
  const settings = {
    name,
    user,
    publish: `127.0.0.1:${options.port}:6379`,
    volume: `${redisDataDir(options.dir)}:/data`,
  };
  const flags = Object.entries(settings).map(([flag, value]) => `--${flag}=${value}`);
  const server = serverArgs({ bind: '0.0.0.0', port: 6379, data: '/data' });
  return ['run', '--rm', ...flags, image, 'redis-server', ...server];
}

/**
 * Starts a Redis alone, for tests that need no cluster. It ends when this process ends, however that comes about.
 * @throws ClusterError when none can be had, or it does not come up; nothing is left behind then.
 */
export async function startRedis(options: RedisOptions): Promise<Redis> {
  const { log = () => {}, signal } = options;
  const dir = resolve(options.dir);
  const source = await ensureRedis({ log, signal });
  const port = await freePort();
  const stack = new Stack(claimFolder(dir));
  const watch = guard(dir);
  try {
    stack.launch(redisLaunch({ dir, port, source }));
    await stack.ready('redis', { signal });
    stack.markReady();
    return handle(stack, watch);
  } catch (error) {
    await stack.remove();
    await watch.release();
    throw error;
  }
}

function handle(stack: Stack, watch: Guard): Redis {
  const { dir } = stack.state;
  const { port } = stack.component('redis');
  return {
    dir,
    url: redisUrl(port),
    port,
    get pid() {
      return stack.component('redis').pid;
    },
    kill: async (signal) => await stack.kill('redis', signal),
    restart: async () => await stack.restart('redis'),
    stop: async () => {
      await stack.remove();
      await watch.release();
    },
  };
}
