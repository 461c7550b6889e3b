import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { aptInstall } from './apt.ts';
import type { BuildOptions } from './build.ts';
import { cacheRoot } from './cache-dir.ts';
import { ClusterError } from '../errors.ts';
import { withLock } from '../servers/lock.ts';
import { run, which } from '../run.ts';

/** Where a Redis comes from: a program, or the image that a container runtime runs. */
export type RedisSource =
  | { readonly kind: 'program'; readonly path: string }
  | { readonly kind: 'image'; readonly runtime: string; readonly image: string };

const IMAGE = 'docker.io/library/redis:7';

/**
 * Debian splits Redis: `redis-tools` holds the program, under the name of a checker, and `redis-server`
 * adds a link to it and a system service. The tools alone can never leave a daemon on port 6379.
 */
const APT_PACKAGE = 'redis-tools';
const APT_PROGRAM = 'redis-check-rdb';

/**
 * A real Redis server: `redis-server` on PATH; else Debian's program, installed with apt-get when this
 * is root (once; processes that ask at once install once); else an image for docker or podman.
 * @throws ClusterError with the command to type when none of these is possible.
 */
export async function ensureRedis(options: BuildOptions): Promise<RedisSource> {
  const found = which('redis-server') ?? (await debianProgram());
  if (found !== undefined) return { kind: 'program', path: found };
  const installed = await installWithApt(options);
  if (installed !== undefined) return { kind: 'program', path: installed };
  const runtime = await containerRuntime(options.signal);
  if (runtime !== undefined) return { kind: 'image', runtime, image: IMAGE };
  throw new ClusterError(
    'expected a Redis server, found no redis-server on PATH and no docker or podman that answers. ' +
      'Type one of: `apt-get install redis-server`, `dnf install redis`, `apk add redis`, `brew install redis`',
  );
}

/** A link to Debian's program under the name that makes it a server; undefined when it is not there. */
async function debianProgram(): Promise<string | undefined> {
  const program = which(APT_PROGRAM);
  if (program === undefined) return undefined;
  const folder = join(cacheRoot(), 'redis');
  const link = join(folder, 'redis-server');
  if (!existsSync(link)) {
    const draft = `${link}.${process.pid}.${crypto.randomUUID()}`;
    mkdirSync(folder, { recursive: true });
    rmSync(link, { force: true });
    symlinkSync(program, draft);
    renameSync(draft, link);
  }
  // Elsewhere the checker may be a program of its own.
  const version = await run(link, ['--version']);
  return version.stdout.startsWith('Redis server') ? link : undefined;
}

async function installWithApt({ log, signal }: BuildOptions): Promise<string | undefined> {
  if (process.getuid?.() !== 0 || which('apt-get') === undefined) return undefined;
  const path = join(cacheRoot(), 'redis.lock');
  const onWait = ({ pid }: { pid: number }): void =>
    log(`process ${pid} is installing Redis: waiting for it`);
  return await withLock({ path, signal, onWait }, async () => {
    const present = await debianProgram();
    if (present !== undefined) return present;
    log(`installing Redis: apt-get install ${APT_PACKAGE} (the program alone, no service)`);
    const installed = await aptInstall([APT_PACKAGE], signal);
    if (installed.code !== 0) log(`apt-get install ${APT_PACKAGE} failed:\n${installed.tail}`);
    return await debianProgram();
  });
}

async function containerRuntime(signal: AbortSignal | undefined): Promise<string | undefined> {
  for (const runtime of ['docker', 'podman']) {
    if (which(runtime) === undefined) continue;
    const { code } = await run(runtime, ['version'], { signal });
    if (code === 0) return runtime;
  }
  return undefined;
}
