/**
 * What bundles leave out of packages that cannot be shaken: code that Reroll never calls. Each megabyte of it would be a megabyte
 * of memory, for the text alone.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OnLoadResult, Plugin, PluginBuild } from 'esbuild';

const MODULES = join(import.meta.dirname, '../../node_modules');

/** Packages, and the file of theirs that has all that is used, or that can be shaken. */
const ENTRIES: Readonly<Record<string, string>> = {
  // The rest are clients for the API, which Reroll has its own for.
  '@kubernetes/client-node': '@kubernetes/client-node/dist/config.js',
  // Node.js' condition would choose CommonJS.
  rxjs: 'rxjs/dist/esm/index.js',
  'rxjs/operators': 'rxjs/dist/esm/operators/index.js',
};

/** Files, and what they contain instead. */
const REPLACED: readonly (readonly [file: RegExp, contents: string])[] = [
  // `KubeConfig.makeApiClient` would need them.
  [
    /client-node\/dist\/gen\/index\.js$/,
    'export const createConfiguration = undefined; export class ServerConfiguration {}',
  ],
  [/bullmq\/dist\/esm\/postgres\/index\.js$/, ''],
  [/zod\/v4\/locales\/index\.js$/, `export { default as en } from './en.js';`],
];

/** Instead of fetch, WebSocket, mocks and caches too. */
const UNDICI = `
  const Dispatcher = require('./lib/dispatcher/dispatcher');
  Object.assign(Dispatcher.prototype, require('./lib/api'));
  module.exports = {
    Dispatcher,
    Pool: require('./lib/dispatcher/pool'),
    Agent: require('./lib/dispatcher/agent'),
    ProxyAgent: require('./lib/dispatcher/proxy-agent'),
  };
`;

/** `hasWebSocket`: the app opens WebSockets by undici. */
export function leftOut({ hasWebSocket }: { readonly hasWebSocket: boolean }): Plugin {
  const replaced = hasWebSocket ? REPLACED : [...REPLACED, [/undici\/index\.js$/, UNDICI] as const];
  return {
    name: 'left-out',
    setup(build) {
      build.onResolve({ filter: /^(@kubernetes\/client-node|rxjs|rxjs\/operators)$/ }, ({ path }) => ({
        path: join(MODULES, ENTRIES[path] ?? path),
        sideEffects: false,
      }));
      for (const [filter, contents] of replaced)
        build.onLoad({ filter }, (): OnLoadResult => ({ contents, loader: 'js' }));
      toAscii(build);
    },
  };
}

/**
 * esbuild leaves regular expressions and comments as they are, and V8 takes two bytes for each character of a text if one of them
 * is not ASCII.
 */
function toAscii(build: PluginBuild): void {
  build.onEnd(({ metafile }) => {
    const files = Object.keys(metafile?.outputs ?? {}).filter((file) => file.endsWith('.js'));
    for (const file of files) writeFileSync(file, escaped(readFileSync(file, 'utf8')));
  });
}

function escaped(text: string): string {
  return text.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
