/**
 * Makes `apps/cli/dist` the package `@reroll/cli`: the bundle has everything in it, so unlike the
 * workspace it has no dependencies. `npm pack ./apps/cli/dist` packs it.
 *
 * Usage, from apps/cli after the bundle: `node ../../tools/build/cli-package.ts`
 */
import { chmodSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs';

const { version, description, license, type, engines } = JSON.parse(
  readFileSync('package.json', 'utf8'),
) as Readonly<Record<string, unknown>>;

/** The last one is what kubectl runs to complete `kubectl reroll`. */
const BINS = ['reroll', 'kubectl-reroll', 'kubectl_complete-reroll'];

const published = {
  // Scoped: nobody else can register it.
  name: '@reroll/cli',
  version,
  description,
  license,
  type,
  engines,
  bin: Object.fromEntries(BINS.map((name) => [name, 'main.js'])),
  files: ['main.js', 'licenses.txt', 'sbom.cdx.json'],
};
writeFileSync('dist/package.json', `${JSON.stringify(published, undefined, 2)}\n`);
copyFileSync('README.md', 'dist/README.md');
copyFileSync('../../LICENSE', 'dist/LICENSE');
chmodSync('dist/main.js', 0o755);
