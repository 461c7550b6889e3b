import { join } from 'node:path';
import type { BuildOptions } from '../cluster/src/build/build.ts';
import { BUILD_FLAGS, ensureGoModule, type GoModule } from '../cluster/src/build/go-module.ts';

/** Programs that say whether what is released is right, ready to run. */
export interface Checkers {
  /** Of workflows of GitHub. */
  readonly actionlint: string;
  /** Loads a Compose file as `docker compose` does, checks it, and prints what it comes to as JSON. */
  readonly compose: string;
  /** A registry of images and charts that forgets everything when it ends; `--port`. */
  readonly registry: string;
}

const TOOLS = [
  'github.com/rhysd/actionlint/cmd/actionlint',
  'github.com/google/go-containerregistry/cmd/registry',
];

const MODULE: GoModule = {
  name: 'checkers',
  folder: join(import.meta.dirname, 'checkers'),
  what: 'actionlint, compose-go and a registry',
  make: async (draft, go) => {
    await go(['build', ...BUILD_FLAGS, '-o', join(draft, 'compose'), '.']);
    await go(['build', ...BUILD_FLAGS, '-o', `${draft}/`, ...TOOLS]);
  },
};

/**
 * All from the cache; they are built first when needed (less than a minute on two cores).
 * @throws ClusterError that says what is missing: Go, a newer Go, the module proxy, space.
 */
export async function ensureCheckers(options: BuildOptions): Promise<Checkers> {
  const folder = await ensureGoModule(MODULE, options);
  const program = (name: string): string => join(folder, name);
  return { actionlint: program('actionlint'), compose: program('compose'), registry: program('registry') };
}
