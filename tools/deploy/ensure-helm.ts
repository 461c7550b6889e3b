import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BuildOptions } from '../cluster/src/build/build.ts';
import { ClusterError } from '../cluster/src/errors.ts';
import { ensureGoModule } from '../cluster/src/build/go-module.ts';

/** A module of its own: its Kubernetes libraries are of another version than the control plane's. */
const MODULE = join(import.meta.dirname, '..', 'helm');
const HELM = 'helm.sh/helm/v3';

/** Built from one version of Helm. */
export interface HelmPrograms {
  readonly helm: string;
  /** Renders charts as `helm template` does, many in one process. */
  readonly renderer: string;
}

/**
 * Their paths in the cache; they are built first when the module or the Go version has changed (about
 * three minutes on two cores). Processes that ask at once build once.
 * @throws ClusterError that says what is missing: Go, a newer Go, the module proxy, space.
 */
export async function ensureHelmPrograms(options: BuildOptions): Promise<HelmPrograms> {
  const flags = buildFlags();
  const folder = await ensureGoModule(
    {
      name: 'helm',
      folder: MODULE,
      what: 'helm',
      recipe: flags.join(' '),
      make: async (draft, go) => {
        await go(['build', ...flags, '-o', `${draft}/`, `${HELM}/cmd/helm`]);
        await go(['build', ...flags, '-o', `${draft}/renderer`, '.']);
      },
    },
    options,
  );
  return { helm: join(folder, 'helm'), renderer: join(folder, 'renderer') };
}

/** The path of `helm` alone. */
export async function ensureHelm(options: BuildOptions): Promise<string> {
  return (await ensureHelmPrograms(options)).helm;
}

/** As helm's own Makefile: it tells its version, and takes that of its client for the cluster's when it has none. */
function buildFlags(): readonly string[] {
  const mod = readFileSync(join(MODULE, 'go.mod'), 'utf8');
  const version = /^\s+helm\.sh\/helm\/v3 (v\S+)/m.exec(mod)?.[1];
  const minor = /^\s+k8s\.io\/client-go v0\.(\d+)\./m.exec(mod)?.[1];
  if (version === undefined || minor === undefined)
    throw new ClusterError(`expected ${MODULE}/go.mod to require ${HELM} and k8s.io/client-go`);
  const kubernetes = ['pkg/lint/rules', 'pkg/chartutil'].flatMap((name) => [
    `-X ${HELM}/${name}.k8sVersionMajor=1`,
    `-X ${HELM}/${name}.k8sVersionMinor=${minor}`,
  ]);
  const settings = [`-X ${HELM}/internal/version.version=${version}`, ...kubernetes];
  return ['-p', '2', '-trimpath', '-ldflags', ['-s -w', ...settings].join(' ')];
}
