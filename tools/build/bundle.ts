/**
 * Bundles one app's compiled JavaScript (`apps/<app>/build/main.js`, made by tsc) and everything that it
 * imports into `apps/<app>/dist/main.js`. What a bundle leaves out (most of client-node's generated
 * models above all) is memory that the process does not need: see docs/adr/0008-bundled-apps.md. Beside it,
 * `dist/licenses.txt` has the license of every package that is in it, and `dist/sbom.cdx.json` is its bill of materials.
 *
 * Whoever has the API has `dist/public` too, which it serves.
 *
 * Usage, from an app's folder: `node ../../tools/build/bundle.ts [--splitting]`; with `--splitting`, what is imported by a
 * call has files of its own beside `main.js`, which are loaded with it, and code of several of them is there once.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { build } from 'esbuild';
import { builtins } from './builtins.ts';
import { leftOut } from './left-out.ts';
import { licenses } from './licenses.ts';
import { packagesOf } from './packages.ts';
import { copyPublicFiles } from './public-files.ts';
import { sbom } from './sbom.ts';

/** Nest loads these only if they are installed; an app that uses one of them names it in its package.json. */
const OPTIONAL = [
  '@nestjs/websockets/*',
  '@nestjs/microservices',
  '@nestjs/microservices/*',
  '@nestjs/platform-express',
  'class-validator',
  'class-transformer',
  'file-type',
];

const { name, dependencies = {} } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  name: string;
  dependencies?: Readonly<Record<string, string>>;
};

// Files of an earlier build may have other names.
rmSync('dist', { recursive: true, force: true });
const { metafile } = await build({
  entryPoints: ['build/main.js'],
  outdir: 'dist',
  splitting: process.argv.includes('--splitting'),
  bundle: true,
  // Not the `paths` of tsconfig.base.json, which lead to the sources of libs.
  tsconfigRaw: {},
  metafile: true,
  platform: 'node',
  target: 'node22',
  format: 'esm',
  sourcemap: 'linked',
  sourcesContent: false,
  keepNames: true,
  minifySyntax: true,
  minifyWhitespace: true,
  minifyIdentifiers: true,
  // licenses.txt has them.
  legalComments: 'none',
  mainFields: ['module', 'main'],
  plugins: [builtins, leftOut({ hasWebSocket: name === '@reroll/cli' })],
  external: OPTIONAL.filter((name) => dependencies[name] === undefined),
  logLevel: 'warning',
  logOverride: { 'indirect-require': 'silent', 'direct-eval': 'silent' },
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
  },
});

const bundled = Object.values(metafile.outputs).flatMap(({ inputs }) =>
  Object.entries(inputs).flatMap(([file, { bytesInOutput }]) => (bytesInOutput > 0 ? [file] : [])),
);
const copied = dependencies['swagger-ui-dist'] === undefined ? [] : copyPublicFiles();
const packages = packagesOf([...bundled, ...copied]);
writeFileSync('dist/licenses.txt', licenses(packages));
writeFileSync('dist/sbom.cdx.json', sbom('package.json', packages));
