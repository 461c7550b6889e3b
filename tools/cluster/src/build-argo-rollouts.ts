import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { BuildOptions } from './build.ts';
import { explainBuildFailure, explainMissingGo } from './build-failure.ts';
import { cacheRoot } from './cache-dir.ts';
import { withLock } from './lock.ts';
import { type RunResult, run, which } from './run.ts';

/** The controller of Argo Rollouts, ready to run. */
export interface ArgoRollouts {
  readonly controller: string;
  /** Its own CRDs, YAML, one file each. */
  readonly crds: readonly string[];
}

/** A module of its own: its Kubernetes libraries are of another version than the control plane's. */
const MODULE = join(import.meta.dirname, '..', 'argo-rollouts');
const ARGO_ROLLOUTS = 'github.com/argoproj/argo-rollouts';
const FLAGS = ['-p', '2', '-trimpath', '-ldflags', '-s -w'];
const WHAT = 'the controller of Argo Rollouts';

/**
 * The controller from the cache; it is built first when the module or the Go version has changed (about five
 * minutes on two cores). Processes that ask at once build once.
 * @throws ClusterError that says what is missing: Go, a newer Go, the module proxy, space.
 */
export async function ensureArgoRollouts({ log, signal }: BuildOptions): Promise<ArgoRollouts> {
  const folder = join(cacheRoot(), `argo-rollouts-${await cacheKey()}`);
  if (!existsSync(folder)) {
    const onWait = ({ pid }: { pid: number }): void =>
      log(`process ${pid} is building ${WHAT}: waiting for it`);
    await withLock({ path: `${folder}.lock`, signal, onWait }, async () => {
      if (!existsSync(folder)) await build(folder, { log, signal });
    });
  }
  const crds = join(folder, 'crds');
  return {
    controller: join(folder, 'rollouts-controller'),
    crds: readdirSync(crds).map((file) => join(crds, file)),
  };
}

async function cacheKey(): Promise<string> {
  const [mod, sum] = ['go.mod', 'go.sum'].map((name) => readFileSync(join(MODULE, name), 'utf8'));
  if (which('go') === undefined) throw explainMissingGo(mod ?? '', WHAT);
  const version = await go(['version']);
  const hash = createHash('sha256').update(FLAGS.join('\0')).update(version);
  return hash.update(`\0${mod}\0${sum}`).digest('hex').slice(0, 16);
}

async function build(folder: string, { log, signal }: BuildOptions): Promise<void> {
  const draft = `${folder}.building`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(join(draft, 'crds'), { recursive: true });
  try {
    log(`building ${WHAT} (once; about five minutes on two cores)`);
    await go(['build', ...FLAGS, '-o', `${draft}/`, `${ARGO_ROLLOUTS}/cmd/rollouts-controller`], signal);
    const source = join(
      (await go(['list', '-m', '-f', '{{.Dir}}', ARGO_ROLLOUTS], signal)).trim(),
      'manifests',
      'crds',
    );
    const files = readdirSync(source).filter((name) => name.endsWith('-crd.yaml'));
    for (const name of files) cpSync(join(source, name), join(draft, 'crds', name));
    renameSync(draft, folder);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  log(`built ${WHAT}: ${folder}`);
}

async function go(args: readonly string[], signal?: AbortSignal): Promise<string> {
  const result: RunResult = await run('go', args, {
    cwd: MODULE,
    // GOFLAGS of the developer (-mod=vendor, -race) would change what is built.
    env: { CGO_ENABLED: '0', GOFLAGS: '', GOWORK: 'off' },
    signal,
  });
  if (result.code !== 0) throw explainBuildFailure(`go ${args[0]}`, result, WHAT);
  return result.stdout;
}
