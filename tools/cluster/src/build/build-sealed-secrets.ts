import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BuildOptions } from './build.ts';
import { ClusterError } from '../errors.ts';
import { BUILD_FLAGS, ensureGoModule, moduleFolder, type Go, type GoModule } from './go-module.ts';

/** The controller of Sealed Secrets and its client, ready to run. */
export interface SealedSecrets {
  /** Looks for `serviceaccount/token` and `serviceaccount/ca.crt` in the folder that it is started in. */
  readonly controller: string;
  readonly kubeseal: string;
  /** Its own CRD, YAML. */
  readonly crd: string;
}

const SEALED_SECRETS = 'github.com/bitnami/sealed-secrets';
const PROGRAMS = ['controller', 'kubeseal'];
const CRD = 'bitnami.com_sealedsecrets.yaml';

/** The controller takes no kubeconfig: it runs in a pod only, with the credentials that are mounted there. */
const CONFIG = 'k8s.io/client-go/rest/config.go';
const IN_A_POD = '"/var/run/secrets/kubernetes.io/serviceaccount/';
const HERE = '"serviceaccount/';

const MODULE: GoModule = {
  name: 'sealed-secrets',
  folder: moduleFolder('sealed-secrets'),
  what: 'the controller of Sealed Secrets',
  recipe: `${IN_A_POD} ${HERE}`,
  make: async (draft, go) => {
    await build(draft, go);
    const root = (await go(['list', '-m', '-f', '{{.Dir}}', SEALED_SECRETS])).trim();
    cpSync(join(root, 'helm/sealed-secrets/crds', CRD), join(draft, CRD));
  },
};

/**
 * Both from the cache; they are built first when needed (about three minutes on two cores).
 * @throws ClusterError that says what is missing: Go, a newer Go, the module proxy, space.
 */
export async function ensureSealedSecrets(options: BuildOptions): Promise<SealedSecrets> {
  const folder = await ensureGoModule(MODULE, options);
  const [controller = '', kubeseal = ''] = PROGRAMS.map((name) => join(folder, name));
  return { controller, kubeseal, crd: join(folder, CRD) };
}

/** Builds from a copy of the sources (`go mod vendor`) in which that one path is another; nothing else is. */
async function build(draft: string, go: Go): Promise<void> {
  const copy = join(draft, 'module');
  mkdirSync(copy);
  for (const name of ['go.mod', 'go.sum']) cpSync(join(MODULE.folder, name), join(copy, name));
  await go(['mod', 'vendor'], copy);
  const config = join(copy, 'vendor', CONFIG);
  const source = readFileSync(config, 'utf8');
  if (!source.includes(IN_A_POD)) throw new ClusterError(`expected ${CONFIG} to name ${IN_A_POD}`);
  writeFileSync(config, source.replaceAll(IN_A_POD, HERE));
  const packages = PROGRAMS.map((name) => `${SEALED_SECRETS}/cmd/${name}`);
  await go(['build', '-mod=vendor', ...BUILD_FLAGS, '-o', `${draft}/`, ...packages], copy);
  rmSync(copy, { recursive: true });
}
