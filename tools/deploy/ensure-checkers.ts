import { join } from 'node:path';
import type { BuildOptions } from '../cluster/src/build.ts';
import { BUILD_FLAGS, ensureGoModule, type GoModule } from '../cluster/src/go-module.ts';

/** Programs that say whether a file is valid, ready to run. */
export interface Checkers {
  /** Of workflows of GitHub. */
  readonly actionlint: string;
  /** Loads a Compose file as `docker compose` does, checks it, and prints what it comes to as JSON. */
  readonly compose: string;
}

const ACTIONLINT = 'github.com/rhysd/actionlint/cmd/actionlint';

const MODULE: GoModule = {
  name: 'checkers',
  folder: join(import.meta.dirname, 'checkers'),
  what: 'actionlint and compose-go',
  make: async (draft, go) => {
    await go(['build', ...BUILD_FLAGS, '-o', join(draft, 'compose'), '.']);
    await go(['build', ...BUILD_FLAGS, '-o', join(draft, 'actionlint'), ACTIONLINT]);
  },
};

/**
 * Both from the cache; they are built first when needed (less than a minute on two cores).
 * @throws ClusterError that says what is missing: Go, a newer Go, the module proxy, space.
 */
export async function ensureCheckers(options: BuildOptions): Promise<Checkers> {
  const folder = await ensureGoModule(MODULE, options);
  return { actionlint: join(folder, 'actionlint'), compose: join(folder, 'compose') };
}
