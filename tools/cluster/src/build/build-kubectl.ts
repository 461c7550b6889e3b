import { join } from 'node:path';
import type { BuildOptions } from './build.ts';
import { BUILD_FLAGS, ensureGoModule, moduleFolder, type GoModule } from './go-module.ts';

const MODULE: GoModule = {
  name: 'kubectl',
  folder: moduleFolder('kubectl'),
  what: 'kubectl',
  make: async (draft, go) => {
    await go(['build', ...BUILD_FLAGS, '-o', join(draft, 'kubectl'), '.']);
  },
};

/**
 * The path of a kubectl of the control plane's version, from the cache; it is built first when needed (about two
 * minutes on two cores).
 * @throws ClusterError that says what is missing: Go, a newer Go, the module proxy, space.
 */
export async function ensureKubectl(options: BuildOptions): Promise<string> {
  return join(await ensureGoModule(MODULE, options), 'kubectl');
}
