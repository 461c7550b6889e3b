import { cpSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { BuildOptions } from './build.ts';
import { BUILD_FLAGS, ensureGoModule, moduleFolder, type GoModule } from './go-module.ts';

/** The controller of Argo Rollouts, ready to run. */
export interface ArgoRollouts {
  readonly controller: string;
  /** Its own CRDs, YAML, one file each. */
  readonly crds: readonly string[];
}

const ARGO_ROLLOUTS = 'github.com/argoproj/argo-rollouts';

/** A module of its own: its Kubernetes libraries are of another version than the control plane's. */
const MODULE: GoModule = {
  name: 'argo-rollouts',
  folder: moduleFolder('argo-rollouts'),
  what: 'the controller of Argo Rollouts',
  make: async (draft, go) => {
    await go(['build', ...BUILD_FLAGS, '-o', `${draft}/`, `${ARGO_ROLLOUTS}/cmd/rollouts-controller`]);
    const root = (await go(['list', '-m', '-f', '{{.Dir}}', ARGO_ROLLOUTS])).trim();
    const source = join(root, 'manifests', 'crds');
    const files = readdirSync(source).filter((name) => name.endsWith('-crd.yaml'));
    mkdirSync(join(draft, 'crds'));
    for (const name of files) cpSync(join(source, name), join(draft, 'crds', name));
  },
};

/**
 * The controller from the cache; it is built first when needed (about five minutes on two cores).
 * @throws ClusterError that says what is missing: Go, a newer Go, the module proxy, space.
 */
export async function ensureArgoRollouts(options: BuildOptions): Promise<ArgoRollouts> {
  const folder = await ensureGoModule(MODULE, options);
  const crds = join(folder, 'crds');
  return {
    controller: join(folder, 'rollouts-controller'),
    crds: readdirSync(crds).map((file) => join(crds, file)),
  };
}
