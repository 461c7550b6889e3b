import { join } from 'node:path';
import type { BuildOptions } from '../cluster/src/build/build.ts';
import { BUILD_FLAGS, ensureGoModule, type GoModule } from '../cluster/src/build/go-module.ts';
import { ensurePythonEnvironment } from '../cluster/src/build/python-environment.ts';

/** Programs that look for what is unsafe in objects of Kubernetes. */
export interface Scanners {
  readonly kubeScore: string;
  /** A Python that runs it: `<it> -m checkov.main …`. */
  readonly checkov: string;
}

const FOLDER = join(import.meta.dirname, 'scanners');

const MODULE: GoModule = {
  name: 'scanners',
  folder: FOLDER,
  what: 'kube-score',
  make: async (draft, go) => {
    await go(['build', ...BUILD_FLAGS, '-o', `${draft}/`, 'github.com/zegl/kube-score/cmd/kube-score']);
  },
};

/**
 * All from the cache; they are built and installed first when needed (some minutes on two cores, 300 MB).
 * @throws ClusterError that says what is missing: Go, Python, the module proxy, the package index, space.
 */
export async function ensureScanners(options: BuildOptions): Promise<Scanners> {
  const folder = await ensureGoModule(MODULE, options);
  const requirements = join(FOLDER, 'requirements.txt');
  const checkov = await ensurePythonEnvironment({ name: 'checkov', requirements }, options);
  return { kubeScore: join(folder, 'kube-score'), checkov };
}
