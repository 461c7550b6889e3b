import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { LIBRARIES, PROGRAMS, type Image, type ImageRule, type Layer } from './pods/images.ts';

const ROOT = join(import.meta.dirname, '../../..');

/** Programs of this machine. */
interface Servers {
  readonly redis: string;
  readonly valkey: string;
}

/** The images of our release, made of the bundles as they were built last, Redis and Valkey. */
export function rerollImages(servers: Servers): ImageRule[] {
  return [
    { reference: /(^|\/)reroll\/watcher(:[\w.-]+)?(@sha256:[0-9a-f]{64})?$/, image: app('watcher') },
    { reference: /(^|\/)reroll\/worker(:[\w.-]+)?(@sha256:[0-9a-f]{64})?$/, image: app('worker') },
    { reference: /(^|\/)reroll\/admin(:[\w.-]+)?(@sha256:[0-9a-f]{64})?$/, image: app('admin') },
    { reference: /(^|\/)redis(:[\w.-]+)?(@sha256:[0-9a-f]{64})?$/, image: redis(servers.redis) },
    { reference: /(^|\/)valkey(:[\w.-]+)?(@sha256:[0-9a-f]{64})?$/, image: redis(servers.valkey) },
  ];
}

/** As deploy/docker makes it. There is no shell in it here, so nothing can come to need one. */
function app(name: string): Image {
  return {
    layers: [
      ...LIBRARIES,
      { from: join(ROOT, 'node_modules/node/bin/node'), to: '/usr/local/bin/node' },
      { from: join(ROOT, 'apps', name, 'dist'), to: '/app' },
    ],
    entrypoint: ['node', '/app/main.js'],
    arguments: [],
    workingDir: '/app',
    user: 65532,
    group: 65532,
    env: {
      NODE_ENV: 'production',
      NODE_OPTIONS: '--max-semi-space-size=4',
      NODE_COMPILE_CACHE: '/home/nonroot/.cache/node',
      MALLOC_ARENA_MAX: '2',
    },
  };
}

function redis(server: string): Image {
  const names = (name: string): string[] => [`redis-${name}`, `valkey-${name}`];
  const layer = (from: string, to: string): Layer => ({ from, to: `/usr/local/bin/${to}` });
  return {
    layers: [
      ...LIBRARIES,
      ...PROGRAMS,
      ...names('server').map((name) => layer(join(import.meta.dirname, 'redis-server.sh'), name)),
      { from: realpathSync(server), to: '/usr/local/lib/redis/redis-server' },
      ...names('cli').map((name) => layer('/usr/bin/redis-cli', name)),
    ],
    entrypoint: [],
    arguments: ['redis-server'],
    workingDir: '/data',
    user: 0,
    group: 0,
    env: {},
    // What docker-entrypoint.sh does.
    prepare: (command) =>
      command[0]?.startsWith('-') || command[0]?.endsWith('.conf') ? ['redis-server', ...command] : command,
  };
}
