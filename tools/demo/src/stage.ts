import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { History } from '@reroll/redis/history/history';
import { catalogKeys } from '@reroll/redis/catalog/keys';
import { openRedis, type RedisClient } from '@reroll/redis/connection/redis';
import { KubeClient } from '@reroll/kube/client/connection';
import { LEASES, type Lease } from '@reroll/kube/lease/lease-record';
import { objectPath } from '@reroll/kube/objects';
import { Processes } from '../../bench/src/processes.ts';
import { startCluster, type Cluster } from '../../cluster/src/cluster.ts';
import { ClusterError } from '../../cluster/src/errors.ts';
import { answersOk } from '../../cluster/src/servers/http.ts';
import { waitUntil } from '../../cluster/src/wait.ts';
import { NAMESPACE, NODES } from './shop.ts';

/** Where Reroll is installed: the namespace of its Lease. */
const INSTALL = 'reroll';
const CLUSTER_NAME = 'demo';
const ROOT = join(import.meta.dirname, '../../..');

/** The defaults are 15 s, 10 s and 2 s; nobody wants to watch a terminal for that long. */
export const LEASE_FLAGS = ['--lease-duration=5s', '--lease-renew-deadline=4s', '--lease-retry-period=1s'];

const ALL = [`--cluster-name=${CLUSTER_NAME}`, '--metrics-addr=127.0.0.1:0'];
const APPS = [
  { name: 'watcher-1', app: 'watcher', flags: LEASE_FLAGS },
  { name: 'watcher-2', app: 'watcher', flags: LEASE_FLAGS },
  { name: 'worker-1', app: 'worker', flags: [] },
  { name: 'worker-2', app: 'worker', flags: [] },
] as const;

export interface StageOptions {
  readonly log: (line: string) => void;
  readonly signal: AbortSignal;
}

/** Everything that runs: a control plane, a Redis, and Reroll's processes. */
export class Stage {
  readonly cluster: Cluster;
  readonly client: KubeClient;
  readonly history: History;
  readonly #redis: RedisClient;
  readonly #processes: Processes;
  readonly #signal: AbortSignal;
  readonly #killed = new Set<string>();

  constructor(cluster: Cluster, signal: AbortSignal) {
    this.cluster = cluster;
    this.#signal = signal;
    this.client = new KubeClient({ kubeconfig: cluster.kubeconfig, userAgent: 'reroll-demo' });
    this.#redis = openRedis({ redisUrl: this.redisUrl }, { onDown: () => undefined, onUp: () => undefined });
    const keys = catalogKeys({ cluster: CLUSTER_NAME, namespace: INSTALL });
    // The limits matter to who writes; the demo only reads.
    this.history = new History(this.#redis, keys, {
      maxEntries: 1_000,
      maxAge: 3_600_000,
      maxBytes: 33_554_432,
    });
    this.#processes = new Processes(join(cluster.dir, 'logs'));
  }

  get redisUrl(): string {
    return this.cluster.redisUrl ?? '';
  }

  get pids(): readonly number[] {
    return this.#processes.list.map(({ pid }) => pid).filter(isAlive);
  }

  /** Processes that run no more, though nobody has killed them. */
  get ended(): readonly string[] {
    const ended = this.#processes.list.filter(({ pid }) => !isAlive(pid)).map(({ name }) => name);
    return ended.filter((name) => !this.#killed.has(name));
  }

  get logs(): string {
    return join(this.cluster.dir, 'logs');
  }

  /** Starts Reroll and resolves with the name of the leader when every process is ready. */
  async startReroll(): Promise<string> {
    for (const name of [INSTALL, NAMESPACE]) {
      await this.client.post('/api/v1/namespaces', { metadata: { name } });
    }
    for (const each of APPS) this.#start(each);
    await Promise.all(APPS.map(async ({ name }) => await this.#ready(name)));
    return await this.leaderOtherThan('');
  }

  /** Starts an admin too, which knows these static tokens, and resolves with the URL of its API when it is ready. */
  async startAdmin(tokensFile: string): Promise<string> {
    const name = 'admin-1';
    const flags = ['--api-addr=127.0.0.1:0', '--auth=static', `--static-tokens-file=${tokensFile}`];
    this.#start({ name, app: 'admin', flags });
    await this.#ready(name);
    const address = /serving the API.*address="?([\d.:]+)/.exec(this.#log(name))?.[1];
    if (address === undefined) throw new ClusterError(`expected ${name} to tell the address of its API`);
    return `http://${address}`;
  }

  /** Who holds the Lease now, by the name of its process; '' for nobody. */
  async leader(): Promise<string> {
    const path = objectPath(LEASES, { namespace: INSTALL, name: 'reroll-watcher' });
    const { body } = await this.client.get<Lease>(path);
    // Behind the name, a watcher adds what makes each of its runs unique.
    return body.spec?.holderIdentity?.split('_')[0] ?? '';
  }

  /** Resolves with the leader as soon as there is one that is not called so. */
  async leaderOtherThan(name: string): Promise<string> {
    let leader = '';
    const isThere = async (): Promise<boolean> => {
      leader = await this.leader();
      return leader !== '' && leader !== name;
    };
    await this.wait('a leader', isThere);
    return leader;
  }

  /** SIGKILL; resolves when the process is gone. */
  async kill(name: string): Promise<void> {
    const found = this.#processes.list.find((each) => each.name === name);
    if (!found) throw new ClusterError(`expected a process called ${name}`);
    this.#killed.add(name);
    process.kill(found.pid, 'SIGKILL');
    await this.wait(`${name} to be gone`, () => !isAlive(found.pid));
  }

  throwIfInterrupted(): void {
    this.#signal.throwIfAborted();
  }

  async wait(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
    await waitUntil(condition, { what, timeoutMs: 30_000, everyMs: 20, signal: this.#signal });
  }

  /** Ends everything and removes what it wrote. */
  async close(): Promise<void> {
    await this.#disconnect();
    await this.#processes.close();
    await this.cluster.stop();
  }

  /** Lets everything run on after this process. */
  async leave(): Promise<void> {
    await this.#disconnect();
    this.#processes.release();
    await this.cluster.detach();
  }

  async #disconnect(): Promise<void> {
    this.#redis.disconnect();
    await this.client.close();
  }

  #start({ name, app, flags }: { name: string; app: string; flags: readonly string[] }): void {
    const main = join(ROOT, 'apps', app, 'dist', 'main.js');
    const env = {
      KUBECONFIG: this.cluster.kubeconfig,
      REDIS_URL: this.redisUrl,
      POD_NAME: name,
      POD_NAMESPACE: INSTALL,
    };
    this.#processes.start({ name, command: process.execPath, args: [main, ...ALL, ...flags], env });
  }

  #log(name: string): string {
    const file = join(this.logs, `${name}.log`);
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  }

  async #ready(name: string): Promise<void> {
    const file = join(this.logs, `${name}.log`);
    await this.wait(`${name} to be ready (its log: ${file})`, async () => {
      const running = this.#processes.list.find((each) => each.name === name);
      if (running && !isAlive(running.pid)) this.#processes.verify();
      const address = /serving metrics and health.*address="?([\d.:]+)/.exec(this.#log(name))?.[1];
      return address !== undefined && (await answersOk({ url: `http://${address}/ready` }));
    });
  }
}

/** Starts the control plane and the Redis; what is on the stage is to be closed, or left. */
export async function openStage({ log, signal }: StageOptions): Promise<Stage> {
  const dir = join(tmpdir(), `reroll-demo-${randomBytes(4).toString('hex')}`);
  return new Stage(await startCluster({ dir, nodes: NODES, log, signal }), signal);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
