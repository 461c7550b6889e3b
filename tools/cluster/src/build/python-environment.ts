import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { aptInstall } from './apt.ts';
import type { BuildOptions } from './build.ts';
import { cacheRoot } from './cache-dir.ts';
import { ClusterError } from '../errors.ts';
import { makeOnce } from './make-once.ts';
import { run, which } from '../run.ts';

/** A Python with packages of its own. */
export interface PythonEnvironment {
  /** Of its folder in the cache, and in messages. */
  readonly name: string;
  /** A file with every package, its version and the hashes of its files. */
  readonly requirements: string;
}

/** Names under which a Python may be found, and what Debian has it in. */
const PYTHONS = ['python3', 'python3.14', 'python3.13', 'python3.12', 'python3.11'];
const APT_PACKAGES = ['python3', 'python3-venv'];

/** Prints the version of a Python that is new enough and can make environments; fails otherwise. */
const PROBE =
  'import sys, venv, ensurepip; sys.exit(1) if sys.version_info < (3, 11) else print(sys.version)';

/**
 * The Python that has the packages, from the cache. They are installed once, and again when the requirements or the machine's Python
 * change; processes that ask at once install them once.
 * @throws ClusterError that says what is missing: Python 3.11 or later with venv, the package index.
 */
export async function ensurePythonEnvironment(
  { name, requirements }: PythonEnvironment,
  options: BuildOptions,
): Promise<string> {
  const python = (await findPython()) ?? (await installPython(options));
  const key = createHash('sha256').update(python.version).update('\0').update(readFileSync(requirements));
  const folder = join(cacheRoot(), `${name}-${key.digest('hex').slice(0, 16)}`);
  const { log, signal } = options;
  const make = async (draft: string): Promise<void> => {
    log(`installing ${name} (once)`);
    await install(python.path, { name, requirements, draft }, signal);
  };
  await makeOnce({ folder, what: `is installing ${name}`, log, signal, make });
  // Run as a module, for the scripts beside it name the folder in which they were made.
  return join(folder, 'bin', 'python');
}

interface Python {
  readonly path: string;
  readonly version: string;
}

async function findPython(): Promise<Python | undefined> {
  for (const name of PYTHONS) {
    const path = which(name);
    if (path === undefined) continue;
    // oxlint-disable-next-line no-await-in-loop -- the first that will do
    const { code, stdout } = await run(path, ['-c', PROBE]);
    if (code === 0) return { path, version: `${path} ${stdout.trim()}` };
  }
  return undefined;
}

async function installPython({ log, signal }: BuildOptions): Promise<Python> {
  if (process.getuid?.() === 0 && which('apt-get') !== undefined) {
    log(`installing Python: apt-get install ${APT_PACKAGES.join(' ')}`);
    const installed = await aptInstall(APT_PACKAGES, signal);
    if (installed.code !== 0) log(`apt-get install ${APT_PACKAGES.join(' ')} failed:\n${installed.tail}`);
  }
  const found = await findPython();
  if (found !== undefined) return found;
  throw new ClusterError(
    'expected Python 3.11 or later with its module venv, found none. Type one of: ' +
      `\`apt-get install ${APT_PACKAGES.join(' ')}\`, \`dnf install python3\`, \`apk add python3\`, \`brew install python\``,
  );
}

async function install(
  python: string,
  { name, requirements, draft }: PythonEnvironment & { draft: string },
  signal: AbortSignal | undefined,
): Promise<void> {
  const must = async (command: string, args: readonly string[]): Promise<void> => {
    const { code, tail } = await run(command, args, { signal });
    if (code !== 0)
      throw new ClusterError(
        `installing ${name} failed: \`${args.join(' ')}\` ended with code ${code}\n${tail}`,
      );
  };
  await must(python, ['-m', 'venv', draft]);
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--only-binary=:all:'];
  await must(join(draft, 'bin', 'python'), [...pip, '--require-hashes', '-r', requirements]);
}
