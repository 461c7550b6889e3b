import { join } from 'node:path';
import type { BuildOptions } from './build.ts';
import { BUILD_FLAGS, ensureGoModule, moduleFolder, type GoModule } from './go-module.ts';

const MODULE: GoModule = {
  name: 'etcdutl',
  folder: moduleFolder('etcdutl'),
  what: 'etcdutl',
  make: async (draft, go) => {
    await go(['build', ...BUILD_FLAGS, '-o', join(draft, 'etcdutl'), '.']);
  },
};

/**
 * The path of a program that restores a copy of a database of etcd and raises its revision, from the cache; it is built
 * first when needed (about a minute on two cores).
 * @throws ClusterError that says what is missing: Go, a newer Go, the module proxy, space.
 */
export async function ensureEtcdutl(options: BuildOptions): Promise<string> {
  return join(await ensureGoModule(MODULE, options), 'etcdutl');
}
