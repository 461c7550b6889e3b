import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { History } from '@reroll/redis/history/history';
import type { KubeClient } from '@reroll/kube/client/connection';
import { cleanUpRun } from '../../../e2e/support/cleanup.ts';
import { connect, Space } from '../../../e2e/support/kube.ts';
import type { App } from '../../../e2e/support/processes.ts';
import { prepareReroll, type Reroll } from '../../../e2e/support/reroll.ts';
import { startCluster, type Cluster } from '../../cluster/src/cluster.ts';
import { ClusterError } from '../../cluster/src/errors.ts';
import { waitUntil } from '../../cluster/src/wait.ts';
import { NAMESPACE, NODES } from './shop.ts';

/** Where Reroll is installed: the namespace of its Lease. */
const INSTALL = 'reroll';

/** The defaults are 15 s, 10 s and 2 s; nobody wants to watch a terminal for that long. */
export const LEASE_FLAGS = ['--lease-duration=5s', '--lease-renew-deadline=4s', '--lease-retry-period=1s'];

export interface StageOptions {
  readonly log: (line: string) => void;
  readonly signal: AbortSignal;
  /** Of an admin, if there is to be one. */
  readonly adminFlags?: readonly string[];
  /** Default: the UID of kube-system. With another name, `history` is not that of these processes. */
  readonly clusterName?: string;
}

/** Everything that runs: a control plane, a Redis, and Reroll's processes. */
export class Stage {
  readonly cluster: Cluster;
  readonly client: KubeClient;
  readonly #reroll: Reroll;
  readonly #signal: AbortSignal;
  readonly #killed = new Set<App>();

  constructor(cluster: Cluster, reroll: Reroll, signal: AbortSignal) {
    this.cluster = cluster;
    this.client = connect(cluster);
    this.#reroll = reroll;
    this.#signal = signal;
  }

  get history(): History {
    return this.#reroll.history;
  }

  get pids(): readonly number[] {
    return this.#reroll.apps.filter(({ isRunning }) => isRunning).map(({ pid }) => pid);
  }

  /** Processes that run no more, though nobody has killed them. */
  get ended(): readonly string[] {
    const ended = this.#reroll.apps.filter((app) => !app.isRunning && !this.#killed.has(app));
    return ended.map(({ name }) => name);
  }

  get logs(): string {
    return this.#reroll.options.logs ?? '';
  }

  /** Starts Reroll and resolves with the name of the leader when every process is ready. */
  async startReroll(): Promise<string> {
    for (const kind of ['watcher', 'watcher', 'worker', 'worker'] as const) this.#reroll.start(kind);
    await this.#reroll.ready();
    return await this.leaderOtherThan('');
  }

  /** Starts an admin too, and resolves with the URL of its API when it is ready. */
  async startAdmin(): Promise<string> {
    const admin = this.#reroll.start('admin');
    await admin.ready();
    return await admin.apiUrl();
  }

  /** Who holds the Lease now, by the name of its process; '' for nobody. */
  async leader(): Promise<string> {
    const lease = await new Space(this.client, INSTALL).find('Lease/reroll-watcher');
    const { holderIdentity = '' } = (lease?.spec ?? {}) as { holderIdentity?: string };
    // Behind the name, a watcher adds what makes each of its runs unique.
    return holderIdentity.split('_')[0] ?? '';
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
    const found = this.#reroll.apps.find((app) => app.name === name);
    if (!found) throw new ClusterError(`expected a process called ${name}`);
    this.#killed.add(found);
    await found.kill();
  }

  throwIfInterrupted(): void {
    this.#signal.throwIfAborted();
  }

  async wait(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
    await waitUntil(condition, { what, timeoutMs: 30_000, everyMs: 20, signal: this.#signal });
  }

  /** Ends everything and removes what it wrote. */
  async close(): Promise<void> {
    await cleanUpRun();
    await this.cluster.stop();
  }

  /** Lets everything run on after this process. */
  async leave(): Promise<void> {
    for (const app of this.#reroll.apps) app.release();
    await cleanUpRun();
    await this.cluster.detach();
  }
}

/** Starts the control plane and the Redis; what is on the stage is to be closed, or left. */
export async function openStage({ log, signal, adminFlags = [], clusterName }: StageOptions): Promise<Stage> {
  const name = clusterName === undefined ? [] : [`--cluster-name=${clusterName}`];
  const dir = join(tmpdir(), `reroll-demo-${randomBytes(4).toString('hex')}`);
  const cluster = await startCluster({ dir, nodes: NODES, log, signal });
  try {
    const options = { logs: join(dir, 'logs'), flags: name, adminFlags: [...name, ...adminFlags] };
    return new Stage(cluster, await install(cluster, options), signal);
  } catch (error) {
    await cleanUpRun();
    await cluster.stop();
    throw error;
  }
}

async function install(
  cluster: Cluster,
  options: { logs: string; flags: readonly string[]; adminFlags: readonly string[] },
): Promise<Reroll> {
  const client = connect(cluster);
  for (const name of [INSTALL, NAMESPACE]) await client.post('/api/v1/namespaces', { metadata: { name } });
  return await prepareReroll({
    cluster,
    namespaces: 'all',
    install: INSTALL,
    debounce: '500ms',
    watcherFlags: LEASE_FLAGS,
    ...options,
  });
}
