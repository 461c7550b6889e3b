import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { aptInstall } from '../../cluster/src/build/apt.ts';
import { cacheRoot } from '../../cluster/src/build/cache-dir.ts';
import { ClusterError } from '../../cluster/src/errors.ts';
import { withLock } from '../../cluster/src/servers/lock.ts';
import { run, type RunResult, which } from '../../cluster/src/run.ts';

/** What every build says of its image: build arguments of the Dockerfile. */
export const STAMP = { version: '1.2.3', revision: 'a1b2c3', created: '2026-01-02T03:04:05Z' };

/** With overlay the first build takes 1.4 GB and each other one 80 MB; vfs copies everything for every step: 9 GB. */
const KEPT_MB = { overlay: 5_000, vfs: 20_000 };
type Driver = keyof typeof KEPT_MB;

export interface BuildahOptions {
  readonly log: (line: string) => void;
  readonly signal?: AbortSignal | undefined;
}

/** Buildah with images of its own: nothing that this machine has otherwise is read or changed. */
export class Buildah {
  readonly folder: string;
  /** More than this of images is not kept until the next time. */
  readonly keptMb: number;
  readonly #global: readonly string[];
  readonly #options: BuildahOptions;

  constructor(folder: string, driver: Driver, options: BuildahOptions) {
    this.folder = folder;
    this.keptMb = KEPT_MB[driver];
    // What says which layers are mounted must not outlive a restart of the machine.
    const state = '/run/reroll-images';
    this.#global = [`--root=${join(folder, driver)}`, `--runroot=${state}`, `--storage-driver=${driver}`];
    this.#options = options;
  }

  log(line: string): void {
    this.#options.log(line);
  }

  /** While no other process does this. */
  async exclusively<T>(work: () => Promise<T>): Promise<T> {
    const onWait = ({ pid }: { pid: number }): void =>
      this.log(`process ${pid} is building images: waiting for it`);
    return await withLock({ path: `${this.folder}.lock`, signal: this.#options.signal, onWait }, work);
  }

  /**
   * Standard output of a command.
   * @throws ClusterError with its last lines when it fails.
   */
  async do(command: string, ...args: readonly string[]): Promise<string> {
    const result = await this.try(command, ...args);
    if (result.code === 0) return result.stdout.trim();
    throw new ClusterError(`\`buildah ${command}\` ended with code ${result.code}:\n${result.tail}`);
  }

  async try(command: string, ...args: readonly string[]): Promise<RunResult> {
    const { signal } = this.#options;
    // The caches of `RUN --mount=type=cache` are in there as well.
    const temporary = join(this.folder, 'tmp');
    mkdirSync(temporary, { recursive: true });
    const env = { TMPDIR: temporary, BUILDAH_ISOLATION: 'chroot' };
    return await run('buildah', [...this.#global, command, ...args], { env, signal });
  }
}

/**
 * Builds images without a daemon: `buildah` on PATH, or that of Debian, installed with apt-get.
 * @throws ClusterError with what to do when this is not root, or buildah cannot be had.
 */
export async function ensureBuildah(options: BuildahOptions): Promise<Buildah> {
  if (process.getuid?.() !== 0)
    throw new ClusterError(
      'expected to be root: to build an image and to run what is in it needs mounts and chroot',
    );
  if (which('buildah') === undefined) await install(options);
  // Buildah 1.28 takes a layer from its cache even if it was built with other arguments.
  const key = createHash('sha256').update(JSON.stringify(STAMP)).digest('hex').slice(0, 16);
  const folder = join(cacheRoot(), `images-${key}`);
  mkdirSync(folder, { recursive: true });
  const buildah = new Buildah(folder, (await hasOverlay(folder)) ? 'overlay' : 'vfs', options);
  await buildah.exclusively(() => tidy(buildah));
  return buildah;
}

/** Containers are named after the process that made them, so that others can tell whether it still needs them. */
export function containerName(app: string): string {
  return `reroll-${process.pid}-${app}`;
}

/**
 * Removes what killed processes have left behind, and every image once there are too many layers of old builds. Nobody else may build
 * meanwhile: a container without the name of a process is that of a build, and is taken for left behind.
 */
export async function tidy(buildah: Buildah): Promise<void> {
  const names = (await buildah.do('containers', '--noheading', '--format={{.ContainerName}}')).split('\n');
  for (const name of names.filter((each) => each !== '')) {
    const pid = Number(/^reroll-(\d+)-/.exec(name)?.[1]);
    if (pid === process.pid || !existsSync(`/proc/${pid}`)) await buildah.do('rm', name);
  }
  const { stdout } = await run('du', ['-s', '-x', '--block-size=1M', buildah.folder]);
  if (Number.parseInt(stdout, 10) < buildah.keptMb) return;
  buildah.log(`removing the images in ${buildah.folder}: they are more than ${buildah.keptMb} MB`);
  // Those in use stay.
  await buildah.try('rmi', '--all');
}

async function install({ log, signal }: BuildahOptions): Promise<void> {
  const path = join(cacheRoot(), 'buildah.lock');
  const failed = await withLock({ path, signal }, async () => {
    if (which('buildah') !== undefined || which('apt-get') === undefined) return '';
    log('installing buildah: apt-get install buildah');
    return (await aptInstall(['buildah'], signal)).tail;
  });
  if (which('buildah') === undefined)
    throw new ClusterError(
      `expected buildah, found none on PATH and could not install it. Type one of: \`apt-get install buildah\`, \`dnf install buildah\`\n${failed}`,
    );
}

/** Layers that share files instead of copying them: not possible on a file system that is an overlay itself. */
async function hasOverlay(folder: string): Promise<boolean> {
  const test = mkdtempSync(join(folder, 'overlay-'));
  try {
    for (const name of ['lower', 'upper', 'work', 'merged']) mkdirSync(join(test, name));
    const options = 'lowerdir=lower,upperdir=upper,workdir=work';
    const mount = ['-t', 'overlay', 'overlay', '-o', options, 'merged'];
    return (await run('unshare', ['--mount', 'mount', ...mount], { cwd: test })).code === 0;
  } finally {
    rmSync(test, { recursive: true, force: true });
  }
}

/** A folder that is removed when the work is done. */
export async function withFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'reroll-images-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
