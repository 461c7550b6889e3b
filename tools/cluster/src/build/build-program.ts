import { join } from 'node:path';
import type { BuildOptions } from './build.ts';
import { BUILD_FLAGS, ensureGoModule, moduleFolder } from './go-module.ts';

/** Programs that are a module each, by the name of its folder, and what they are in messages. */
const PROGRAMS = {
  /** Whether Argo CD would show an object as OutOfSync. */
  'argo-cd-diff': "Argo CD's comparison",
  /** Restores a copy of a database of etcd and raises its revision. */
  etcdutl: 'etcdutl',
  /** Of the control plane's version. */
  kubectl: 'kubectl',
} as const;

/**
 * The path of a program from the cache; it is built first when needed (one to five minutes on two cores).
 * @throws ClusterError that says what is missing: Go, a newer Go, the module proxy, space.
 */
export async function ensureProgram(name: keyof typeof PROGRAMS, options: BuildOptions): Promise<string> {
  const make = async (draft: string, go: (args: readonly string[]) => Promise<string>): Promise<void> => {
    await go(['build', ...BUILD_FLAGS, '-o', join(draft, name), '.']);
  };
  const module = { name, folder: moduleFolder(name), what: PROGRAMS[name], make };
  return join(await ensureGoModule(module, options), name);
}
