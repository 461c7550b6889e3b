import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ClusterError } from '../errors.ts';
import { isRootOfMachine } from '../node/root.ts';
import { withLock } from '../servers/lock.ts';
import { which } from '../run.ts';
import { aptInstall } from './apt.ts';
import type { BuildOptions } from './build.ts';
import { cacheRoot } from './cache-dir.ts';
import { BUILD_FLAGS, ensureGoModule, moduleFolder, versionFlags, type GoModule } from './go-module.ts';

/** Its own versions of its libraries count. */
const CONTAINERD = 'github.com/containerd/containerd/v2@v2.4.2';
const CONTAINERD_PROGRAMS = ['./cmd/containerd', './cmd/containerd-shim-runc-v2', './cmd/ctr'];

/** By the name of a program, the Debian package that has it. */
const PROGRAMS = { runc: 'runc', nft: 'nftables', ip: 'iproute2' };
const CNI_FOLDERS = ['/usr/lib/cni', '/opt/cni/bin'];

/** What a real node is made of, ready to run. */
export interface NodePrograms {
  /** Holds `kube-node`, `dns`, `pause`, `containerd`, its shim and `ctr`. */
  readonly folder: string;
  /** Holds the plugins `ptp` and `host-local`. */
  readonly cniFolder: string;
}

const MODULE: GoModule = {
  name: 'kube-node',
  folder: moduleFolder('kube-node'),
  what: 'kubelet, kube-proxy, containerd and CoreDNS',
  recipe: CONTAINERD,
  make: async (draft, go) => {
    await go(['build', ...(await versionFlags(go)), '-o', `${draft}/`, '.', './dns', './pause']);
    const { Dir } = JSON.parse(await go(['mod', 'download', '-json', CONTAINERD])) as { Dir: string };
    await go(['build', ...BUILD_FLAGS, '-o', `${draft}/`, ...CONTAINERD_PROGRAMS], Dir);
  },
};

/**
 * The programs from the cache, which are built first when needed (about five minutes on two cores), and those of
 * Debian, installed with apt-get when they are missing.
 * @throws ClusterError that says what is missing: root, Go, the module proxy, a package.
 */
export async function ensureNodePrograms(options: BuildOptions): Promise<NodePrograms> {
  if (!isRootOfMachine())
    throw new ClusterError('expected to be root: a real node makes mounts, networks and cgroups');
  const cniFolder = await ensurePackages(options);
  return { folder: await ensureGoModule(MODULE, options), cniFolder };
}

async function ensurePackages({ log, signal }: BuildOptions): Promise<string> {
  let failed = '';
  await withLock({ path: join(cacheRoot(), 'kube-node-packages.lock'), signal }, async () => {
    const names = missing();
    if (names.length === 0 || which('apt-get') === undefined) return;
    log(`installing what a node needs: apt-get install ${names.join(' ')}`);
    failed = (await aptInstall(names, signal)).tail;
  });
  const cniFolder = CNI_FOLDERS.find((folder) => existsSync(join(folder, 'ptp')));
  if (cniFolder !== undefined && missing().length === 0) return cniFolder;
  throw new ClusterError(
    `expected the packages ${missing().join(', ')}, and could not install them\n${failed}`,
  );
}

function missing(): string[] {
  const packages = Object.entries(PROGRAMS).flatMap(([program, name]) => (which(program) ? [] : [name]));
  const hasCni = CNI_FOLDERS.some((folder) => existsSync(join(folder, 'ptp')));
  return hasCni ? packages : [...packages, 'containernetworking-plugins'];
}
