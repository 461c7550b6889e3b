import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { BuildOptions } from '../cluster/src/build.ts';
import { explainBuildFailure, explainMissingGo } from '../cluster/src/build-failure.ts';
import { cacheRoot } from '../cluster/src/cache-dir.ts';
import { ClusterError } from '../cluster/src/errors.ts';
import { withLock } from '../cluster/src/lock.ts';
import { run, which } from '../cluster/src/run.ts';

/** A module of its own: its Kubernetes libraries are of another version than the control plane's. */
const MODULE = join(import.meta.dirname, '..', 'helm');
const HELM = 'helm.sh/helm/v3';
const WHAT = 'helm';

/**
 * The path of `helm` from the cache; it is built first when the module or the Go version has changed (about
 * three minutes on two cores). Processes that ask at once build once.
 * @throws ClusterError that says what is missing: Go, a newer Go, the module proxy, space.
 */
export async function ensureHelm({ log, signal }: BuildOptions): Promise<string> {
  const flags = buildFlags();
  const folder = join(cacheRoot(), `helm-${await cacheKey(flags)}`);
  if (!existsSync(folder)) {
    const onWait = ({ pid }: { pid: number }): void =>
      log(`process ${pid} is building ${WHAT}: waiting for it`);
    await withLock({ path: `${folder}.lock`, signal, onWait }, async () => {
      if (!existsSync(folder)) await build({ folder, flags, log, signal });
    });
  }
  return join(folder, 'helm');
}

/** As helm's own Makefile: it tells its version, and takes that of its client for the cluster's when it has none. */
function buildFlags(): readonly string[] {
  const mod = moduleFile('go.mod');
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

async function cacheKey(flags: readonly string[]): Promise<string> {
  const [mod, sum] = ['go.mod', 'go.sum'].map(moduleFile);
  if (which('go') === undefined) throw explainMissingGo(mod ?? '', WHAT);
  const hash = createHash('sha256')
    .update(flags.join('\0'))
    .update(await go(['version']));
  return hash.update(`\0${mod}\0${sum}`).digest('hex').slice(0, 16);
}

async function build(by: BuildOptions & { folder: string; flags: readonly string[] }): Promise<void> {
  const { folder, flags, log, signal } = by;
  const draft = `${folder}.building`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { recursive: true });
  try {
    log(`building ${WHAT} (once; about three minutes on two cores)`);
    await go(['build', ...flags, '-o', `${draft}/`, `${HELM}/cmd/helm`], signal);
    renameSync(draft, folder);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  log(`built ${WHAT}: ${folder}`);
}

async function go(args: readonly string[], signal?: AbortSignal): Promise<string> {
  // GOFLAGS of the developer (-mod=vendor, -race) would change what is built.
  const env = { CGO_ENABLED: '0', GOFLAGS: '', GOWORK: 'off' };
  const result = await run('go', args, { cwd: MODULE, env, signal });
  if (result.code !== 0) throw explainBuildFailure(`go ${args[0]}`, result, WHAT);
  return result.stdout;
}

function moduleFile(name: string): string {
  return readFileSync(join(MODULE, name), 'utf8');
}
