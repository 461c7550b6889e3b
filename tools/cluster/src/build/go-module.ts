import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { BuildOptions } from './build.ts';
import { explainBuildFailure, explainMissingGo } from './build-failure.ts';
import { cacheRoot } from './cache-dir.ts';
import { makeOnce } from './make-once.ts';
import { run, which } from '../run.ts';

/** A program of somebody else's, built from a Go module of its own. */
export interface GoModule {
  /** Of its folder in the cache. */
  readonly name: string;
  /** Where its `go.mod` and `go.sum` are. */
  readonly folder: string;
  /** In messages: `the controller of Argo Rollouts`. */
  readonly what: string;
  /** Whatever else changes the result, so that it is built anew: a patch of a source, other flags. Default none. */
  readonly recipe?: string;
  /** Writes all that the cache shall hold into the empty folder `draft`. */
  readonly make: (draft: string, go: Go) => Promise<void>;
}

/**
 * Runs `go` with these arguments in the module's folder (or in `cwd`); resolves with what it prints.
 * @throws ClusterError that says what is missing: a newer Go, the module proxy, space.
 */
export type Go = (args: readonly string[], cwd?: string) => Promise<string>;

/** Of every `go build`. */
export const BUILD_FLAGS = ['-p', '2', '-trimpath', '-ldflags', '-s -w'];

/** Flags of `go build` with which a program of Kubernetes tells the version that it was made from. */
export async function versionFlags(go: Go): Promise<string[]> {
  const gitVersion = (await go(['list', '-m', '-f', '{{.Version}}', 'k8s.io/kubernetes'])).trim();
  const [gitMajor = '', gitMinor = ''] = gitVersion.slice(1).split('.');
  const settings = Object.entries({ gitVersion, gitMajor, gitMinor }).map(
    ([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`,
  );
  return [...BUILD_FLAGS, '-ldflags', ['-s -w', ...settings].join(' ')];
}

/** The folder of a module below `tools/cluster`. */
export function moduleFolder(name: string): string {
  return join(import.meta.dirname, '../..', name);
}

/**
 * The folder with what was made, from the cache; it is made first when the module, its recipe or the Go version has
 * changed. Processes that ask at once make it once.
 * @throws ClusterError that says what is missing: Go, a newer Go, the module proxy, space.
 */
export async function ensureGoModule(module: GoModule, { log, signal }: BuildOptions): Promise<string> {
  const { name, what } = module;
  const go = goOf(module, signal);
  const folder = join(cacheRoot(), `${name}-${await cacheKey(module, go)}`);
  const make = async (draft: string): Promise<void> => {
    log(`building ${what} (once; it takes minutes)`);
    await module.make(draft, go);
    log(`built ${what}: ${folder}`);
  };
  return await makeOnce({ folder, what: `is building ${what}`, log, signal, make });
}

async function cacheKey({ folder, what, recipe = '' }: GoModule, go: Go): Promise<string> {
  if (which('go') === undefined) throw explainMissingGo(readFileSync(join(folder, 'go.mod'), 'utf8'), what);
  const hash = createHash('sha256').update(BUILD_FLAGS.join('\0'));
  hash.update(`\0${await go(['version'])}\0${recipe}`);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const sources = files.filter((file) => /^go\.(mod|sum)$|\.go$/.test(file));
  for (const file of sources.sort()) hash.update(`\0${file}\0`).update(readFileSync(join(folder, file)));
  return hash.digest('hex').slice(0, 16);
}

function goOf({ folder, what }: GoModule, signal: AbortSignal | undefined): Go {
  return async (args, cwd = folder) => {
    // GOFLAGS of the developer (-mod=vendor, -race) would change what is built.
    const env = { CGO_ENABLED: '0', GOFLAGS: '', GOWORK: 'off' };
    const result = await run('go', args, { cwd, env, signal });
    if (result.code !== 0) throw explainBuildFailure(`go ${args[0]}`, result, what);
    return result.stdout;
  };
}
