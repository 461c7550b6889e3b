import { join } from 'node:path';
import type { BuildOptions } from './build.ts';
import { ensureGoModule, moduleFolder, versionFlags } from './go-module.ts';

const NAME = 'oldest-kube-apiserver';

/**
 * The path of a kube-apiserver of the oldest Kubernetes that the chart supports, from the cache; it is built first when
 * needed (five minutes on two cores).
 * @throws ClusterError that says what is missing: Go, the module proxy, space.
 */
export async function ensureOldestApiServer(options: BuildOptions): Promise<string> {
  const what = 'the oldest kube-apiserver that the chart supports';
  const folder = await ensureGoModule(
    {
      name: NAME,
      folder: moduleFolder(NAME),
      what,
      make: async (draft, go) => {
        await go(['build', ...(await versionFlags(go)), '-o', join(draft, NAME), '.']);
      },
    },
    options,
  );
  return join(folder, NAME);
}
