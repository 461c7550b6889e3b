/**
 * Makes `apps/cli/dist` the package `@reroll/cli`: the bundle has everything in it, so unlike the
 * workspace it has no dependencies. `npm pack ./apps/cli/dist` packs it. Its commands start `start.js`, which loads the
 * bundle only in a Node.js that can run it.
 *
 * Usage, from apps/cli after the bundle: `node ../../tools/build/cli-package.ts`
 */
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';

const { version, description, license, type, engines } = JSON.parse(
  readFileSync('package.json', 'utf8'),
) as Readonly<Record<string, unknown>> & { readonly engines: { readonly node: string } };

/** The last one is what kubectl runs to complete `kubectl reroll`. */
const BINS = ['reroll', 'kubectl-reroll', 'kubectl_complete-reroll'];

/** `>=22.19`: 22.19 */
const NODE = engines.node.replace(/^>=/u, '');

/** In the syntax of old versions: in an unsupported one, the bundle ends with its own minified code on the terminal. */
const START = `#!/usr/bin/env node
var needed = '${NODE}'.split('.').map(Number);
var given = process.versions.node.split('.').map(Number);
if (given[0] > needed[0] || (given[0] === needed[0] && given[1] >= needed[1])) {
  import('./main.js');
} else {
  var name = process.argv[1].indexOf('kubectl-reroll') >= 0 ? 'kubectl reroll' : 'reroll';
  console.error('error: ' + name + ' needs Node.js ${NODE} or later; this is ' + process.version);
  process.exitCode = 1;
}
`;

const published = {
  // Scoped: nobody else can register it.
  name: '@reroll/cli',
  version,
  description,
  license,
  type,
  engines,
  bin: Object.fromEntries(BINS.map((name) => [name, 'start.js'])),
  files: ['start.js', 'main.js', 'licenses.txt', 'sbom.cdx.json'],
};
writeFileSync('dist/package.json', `${JSON.stringify(published, undefined, 2)}\n`);
writeFileSync('dist/start.js', START, { mode: 0o755 });
copyFileSync('README.md', 'dist/README.md');
copyFileSync('../../LICENSE', 'dist/LICENSE');
