import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { cacheRoot } from './cache-dir.ts';
import { explainBuildFailure, explainMissingGo } from './build-failure.ts';
import { ClusterError } from '../errors.ts';
import { makeOnce } from './make-once.ts';
import { type RunResult, run, which } from '../run.ts';

/** What a control plane is made of, ready to run. */
export interface Binaries {
  /** etcd, kube-apiserver, kube-controller-manager or kube-scheduler, by its first argument. */
  readonly controlplane: string;
  readonly kwok: string;
  /** kwok's own stages, which say how a fake kubelet moves nodes and pods along; one file each. */
  readonly stages: readonly string[];
}

export interface BuildOptions {
  readonly log: (line: string) => void;
  readonly signal?: AbortSignal | undefined;
}

const MODULE = join(import.meta.dirname, '../..', 'go');
const KWOK = 'sigs.k8s.io/kwok';
const PACKAGES = ['.', `${KWOK}/cmd/kwok`];
const STAGE_FOLDERS = ['node/fast', 'node/heartbeat', 'pod/fast'];
const PROGRESS_EVERY_MS = 3000;

/**
 * The binaries from the cache; they are built first when the Go sources, the Go version or the build
 * flags have changed (five to twelve minutes on two cores). Processes that ask at once build once.
 * @throws ClusterError that says what is missing: Go, a newer Go, the module proxy, space.
 */
export async function ensureBinaries(options: BuildOptions): Promise<Binaries> {
  const { log, signal } = options;
  const flags = buildFlags();
  const folder = join(cacheRoot(), `controlplane-${await cacheKey(flags, signal)}`);
  const make = async (draft: string): Promise<void> => {
    const started = performance.now();
    await build(draft, flags, options);
    log(`built the control plane in ${seconds(started)} s: ${folder}`);
  };
  await makeOnce({ folder, what: 'is building the control plane', log, signal, make });
  const stages = join(folder, 'stages');
  return {
    controlplane: join(folder, 'controlplane'),
    kwok: join(folder, 'kwok'),
    stages: readdirSync(stages).map((file) => join(stages, file)),
  };
}

/** Clients read /version, so the API server has to tell the version that it was made from. */
function buildFlags(): readonly string[] {
  const version = /^\s+k8s\.io\/kubernetes v(\d+)\.(\d+)\.(\d+)$/m.exec(moduleFile('go.mod'));
  if (version === null) throw new ClusterError(`expected ${MODULE}/go.mod to require k8s.io/kubernetes`);
  const [, major, minor, patch] = version;
  const values = { gitVersion: `v${major}.${minor}.${patch}`, gitMajor: major, gitMinor: minor };
  const settings = Object.entries(values).map(
    ([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`,
  );
  return ['-p', '2', '-trimpath', '-ldflags', ['-s -w', ...settings].join(' ')];
}

async function cacheKey(flags: readonly string[], signal: AbortSignal | undefined): Promise<string> {
  if (which('go') === undefined) throw explainMissingGo(moduleFile('go.mod'));
  const version = await go(['version'], { signal });
  if (version.code !== 0) throw explainBuildFailure('go version', version);
  const hash = createHash('sha256').update(version.stdout).update(flags.join('\0'));
  const sources = readdirSync(MODULE).filter((name) => /^go\.(mod|sum)$|\.go$/.test(name));
  for (const name of sources.sort()) hash.update(`\0${name}\0`).update(moduleFile(name));
  return hash.digest('hex').slice(0, 16);
}

async function build(draft: string, flags: readonly string[], { log, signal }: BuildOptions): Promise<void> {
  log('building the control plane (once; five to twelve minutes on two cores)');
  const modules = await withProgress(log, 'modules fetched', async (count) =>
    go(['list', '-deps', ...PACKAGES], {
      signal,
      onLine: (line) => line.startsWith('go: down') && count(),
    }),
  );
  if (modules.code !== 0) throw explainBuildFailure('go list', modules);
  const total = modules.stdout.split('\n').filter((line) => !line.startsWith('go: ')).length;
  const label = `packages compiled of at most ${total}`;
  const built = await withProgress(log, label, async (count) =>
    go(['build', '-v', ...flags, '-o', `${draft}/`, ...PACKAGES], { signal, onLine: count }),
  );
  if (built.code !== 0) throw explainBuildFailure('go build', built);
  renameSync(join(draft, 'cluster'), join(draft, 'controlplane'));
  await copyStages(join(draft, 'stages'), signal);
}

async function withProgress(
  log: (line: string) => void,
  label: string,
  work: (count: () => void) => Promise<RunResult>,
): Promise<RunResult> {
  const started = performance.now();
  let done = 0;
  const timer = setInterval(() => log(`  ${seconds(started)} s: ${done} ${label}`), PROGRESS_EVERY_MS);
  try {
    return await work(() => {
      done += 1;
    });
  } finally {
    clearInterval(timer);
  }
}

async function copyStages(target: string, signal: AbortSignal | undefined): Promise<void> {
  const found = await go(['list', '-m', '-f', '{{.Dir}}', KWOK], { signal });
  if (found.code !== 0) throw explainBuildFailure('go list', found);
  mkdirSync(target);
  for (const folder of STAGE_FOLDERS) {
    const source = join(found.stdout.trim(), 'kustomize', 'stage', folder);
    const files = readdirSync(source).filter((name) => /^(node|pod)-.*\.yaml$/.test(name));
    for (const name of files) cpSync(join(source, name), join(target, name));
  }
}

interface GoOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onLine?: (line: string) => void;
}

async function go(args: readonly string[], options: GoOptions): Promise<RunResult> {
  // GOFLAGS of the developer (-mod=vendor, -race) would change what is built.
  return await run('go', args, {
    cwd: MODULE,
    env: { CGO_ENABLED: '0', GOFLAGS: '', GOWORK: 'off' },
    ...options,
  });
}

function moduleFile(name: string): string {
  return readFileSync(join(MODULE, name), 'utf8');
}

function seconds(since: number): number {
  return Math.round((performance.now() - since) / 1000);
}
