import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Cluster } from '../../tools/cluster/src/cluster.ts';
import { ensureRedis } from '../../tools/cluster/src/build/redis-install.ts';
import { tokensFile } from './admin/admin-api.ts';
import { cleanUp } from './cleanup.ts';
import type { Space } from './kube.ts';
import { App } from './processes.ts';

const MAIN = join(import.meta.dirname, '../../apps/standalone/dist/main.js');

export interface StandaloneOptions {
  readonly cluster: Cluster;
  readonly name: string;
  /** POD_NAMESPACE. */
  readonly install: string;
  /** What it watches. */
  readonly space: Space;
  readonly flags?: readonly string[];
}

/** A standalone process, with a Redis that it starts by itself. */
export interface Standalone {
  readonly app: App;
  /** The folder in which it makes that of its Redis. */
  readonly folder: string;
  /** The pid of its Redis; undefined: none runs. */
  redisPid(): number | undefined;
  /** Ends it and its Redis at once, as the end of a container does. */
  kill(): Promise<void>;
}

export async function startStandalone(options: StandaloneOptions): Promise<Standalone> {
  const { cluster, name, install, space, flags = [] } = options;
  const folder = mkdtempSync(join(tmpdir(), 'reroll-e2e-standalone-'));
  const args = [MAIN, '--debounce=0', '--adoptions-per-second=1000', '--is-openshift=false'];
  const app = new App({
    name,
    args: [...args, '--metrics-addr=127.0.0.1:0', '--api-addr=127.0.0.1:0', ...flags],
    env: {
      PATH: `${await redisFolder()}:${process.env['PATH']}`,
      TMPDIR: folder,
      KUBECONFIG: cluster.kubeconfig,
      KUBERNETES_NAMESPACE: space.name,
      POD_NAME: name,
      POD_NAMESPACE: install,
      REROLL_AUTH: 'static',
      REROLL_STATIC_TOKENS_FILE: tokensFile(),
    },
  });
  const kill = async (): Promise<void> => {
    await app.kill('SIGKILL');
    const pid = pidBelow(folder);
    if (pid !== undefined) process.kill(pid, 'SIGKILL');
  };
  cleanUp(async () => {
    await kill();
    await app.discard();
    rmSync(folder, { recursive: true, force: true });
  });
  return { app, folder, redisPid: () => pidBelow(folder), kill };
}

async function redisFolder(): Promise<string> {
  const source = await ensureRedis({ log: () => undefined });
  if (source.kind !== 'program') throw new Error('expected a redis-server on this machine');
  return dirname(source.path);
}

/** The Redis that runs in a folder below this one. */
function pidBelow(folder: string): number | undefined {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/u.test(name))
    .map(Number)
    .find((pid) => isRedisBelow(folder, pid));
}

function isRedisBelow(folder: string, pid: number): boolean {
  try {
    const isBelow = readlinkSync(`/proc/${pid}/cwd`).startsWith(`${folder}/`);
    return isBelow && readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith('redis-server');
  } catch {
    return false; // it has ended, or is another user's
  }
}
