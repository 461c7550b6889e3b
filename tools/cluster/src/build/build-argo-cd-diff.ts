import { join } from 'node:path';
import type { BuildOptions } from './build.ts';
import { BUILD_FLAGS, ensureGoModule, moduleFolder, type GoModule } from './go-module.ts';

const MODULE: GoModule = {
  name: 'argo-cd-diff',
  folder: moduleFolder('argo-cd-diff'),
  what: "Argo CD's comparison",
  make: async (draft, go) => {
    await go(['build', ...BUILD_FLAGS, '-o', join(draft, 'argo-cd-diff'), '.']);
  },
};

/**
 * The path of `argo-cd-diff` from the cache; it is built first when needed (about five minutes on two cores).
 * @throws ClusterError that says what is missing: Go, a newer Go, the module proxy, space.
 */
export async function ensureArgoCdDiff(options: BuildOptions): Promise<string> {
  return join(await ensureGoModule(MODULE, options), 'argo-cd-diff');
}
