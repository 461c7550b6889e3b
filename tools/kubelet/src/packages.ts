import { join } from 'node:path';
import { aptInstall } from '../../cluster/src/build/apt.ts';
import { cacheRoot } from '../../cluster/src/build/cache-dir.ts';
import { withLock } from '../../cluster/src/servers/lock.ts';
import { which } from '../../cluster/src/run.ts';
import { KubeletError } from './errors.ts';

/** What containers are made with, by name; paths. */
export type Programs = Readonly<Record<Program, string>>;

type Program = 'ip' | 'bwrap' | 'nsenter' | 'setpriv';

/** The Debian package of each. */
const PACKAGES: Readonly<Record<Program, string>> = {
  ip: 'iproute2',
  bwrap: 'bubblewrap',
  nsenter: 'util-linux',
  setpriv: 'util-linux',
};

/**
 * The programs from PATH; what is missing is installed with apt-get (once; processes that ask at once install once).
 * @throws KubeletError that says what to do when this is not root, or they cannot be had.
 */
export async function ensurePrograms(log: (line: string) => void): Promise<Programs> {
  if (process.getuid?.() !== 0) {
    throw new KubeletError(
      'expected to be root, at least of a user namespace: pods get network namespaces and mounts of their own. ' +
        'Begin the command with tools/kubelet/rootless.sh',
    );
  }
  if (missing().length > 0 && which('apt-get') !== undefined) await install(log);
  const absent = missing();
  if (absent.length > 0) {
    throw new KubeletError(
      `expected ${absent.join(', ')} on PATH; type \`apt-get install ${packagesOf(absent).join(' ')}\``,
    );
  }
  const entries = Object.keys(PACKAGES).map((name) => [name, which(name) ?? name]);
  return Object.fromEntries(entries) as Programs;
}

function missing(): Program[] {
  return (Object.keys(PACKAGES) as Program[]).filter((name) => which(name) === undefined);
}

function packagesOf(programs: readonly Program[]): string[] {
  return [...new Set(programs.map((name) => PACKAGES[name]))];
}

async function install(log: (line: string) => void): Promise<void> {
  const onWait = ({ pid }: { pid: number }): void => log(`process ${pid} installs packages: waiting for it`);
  await withLock({ path: join(cacheRoot(), 'packages.lock'), onWait }, async () => {
    const packages = packagesOf(missing());
    if (packages.length === 0) return;
    log(`installing with apt-get: ${packages.join(' ')}`);
    const installed = await aptInstall(packages);
    if (installed.code !== 0) log(`apt-get install ${packages.join(' ')} failed:\n${installed.tail}`);
  });
}
