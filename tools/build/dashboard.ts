/**
 * Bundles the dashboard (`apps/dashboard/src/main.tsx`, its styles and its icon) into `apps/dashboard/dist`: files whose
 * names carry a hash of what is in them, `index.html`, which names them by relative URLs, and `licenses.txt` and
 * `sbom.cdx.json` as beside every other program. No script or style stands in the page itself.
 *
 * Usage, from its folder: `node ../../tools/build/dashboard.ts`
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { build } from 'esbuild';
import { licenses } from './licenses.ts';
import { packagesOf } from './packages.ts';
import { sbom } from './sbom.ts';

rmSync('dist', { recursive: true, force: true });

const { metafile } = await build({
  entryPoints: { app: 'src/main.tsx', style: 'src/style.css', icon: 'src/icon.svg' },
  outdir: 'dist',
  entryNames: '[name]-[hash]',
  assetNames: '[name]-[hash]',
  bundle: true,
  // Not the `paths` of tsconfig.base.json, which lead to the sources of libs.
  tsconfigRaw: {},
  minify: true,
  metafile: true,
  format: 'esm',
  platform: 'browser',
  target: ['chrome123', 'firefox121', 'safari17.5'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  loader: { '.svg': 'copy' },
  logLevel: 'warning',
});

const outputs = Object.entries(metafile.outputs);

function fileOf(entryPoint: string): string {
  const found = outputs.find(([, output]) => output.entryPoint === entryPoint);
  if (!found) throw new Error(`expected a file made of ${entryPoint}`);
  return basename(found[0]);
}

const page = readFileSync('src/index.html', 'utf8')
  .replace('%ICON%', fileOf('src/icon.svg'))
  .replace('%STYLE%', fileOf('src/style.css'))
  .replace('%SCRIPT%', fileOf('src/main.tsx'));
writeFileSync('dist/index.html', page);

const packages = packagesOf(
  outputs.flatMap(([, { inputs }]) =>
    Object.keys(inputs).filter((file) => (inputs[file]?.bytesInOutput ?? 0) > 0),
  ),
);
writeFileSync('dist/licenses.txt', licenses(packages));
writeFileSync('dist/sbom.cdx.json', sbom('package.json', packages));
