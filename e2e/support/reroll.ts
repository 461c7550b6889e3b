import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Cluster } from '../../tools/cluster/src/cluster.ts';
import type { ChartValues } from '../../tools/deploy/render.ts';
import { Catalog } from '@reroll/redis/catalog/catalog';
import type { ChangeEntry, OutcomeEntry } from '@reroll/core/history/entries';
import type { Key } from '@reroll/core/model';
import { History } from '@reroll/redis/history/history';
import { catalogKeys } from '@reroll/redis/catalog/keys';
import { openRedis, type RedisClient } from '@reroll/redis/connection/redis';
import type { RedisAccess } from '@reroll/redis/connection/redis-access';
import { parseOptions } from '@reroll/shared/platform/options/parsing/parse';
import { Queues } from '@reroll/redis/queue/queues';
import { tokensFile } from './admin/admin-api.ts';
import { cleanUp } from './cleanup.ts';
import { connect, namespace, type Ref, type Space } from './kube.ts';
import { App } from './processes.ts';
import { eventually } from './wait.ts';
import { workerAccount, type WorkerAccount } from './objects/worker-account.ts';

export interface RerollOptions {
  readonly cluster: Cluster;
  /** What it watches. */
  readonly namespaces: readonly (Space | string)[] | 'all';
  /** How many processes of each. Default 1. */
  readonly watchers?: number;
  readonly workers?: number;
  /** Default none. They know the tokens of `admin-api.ts`, unless `adminFlags` choose another `--auth`. */
  readonly admins?: number;
  /** Default `0`. */
  readonly debounce?: string;
  /** Default 60s, as the watcher's: the resync repairs nothing within a test. */
  readonly sweepInterval?: string;
  /** Default 1000 a second, so that specs need not wait to be adopted. */
  readonly adoptionsPerSecond?: number;
  /** For watchers and workers. */
  readonly flags?: readonly string[];
  readonly watcherFlags?: readonly string[];
  readonly workerFlags?: readonly string[];
  readonly adminFlags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Folder for the logs of its processes. Default: one for each, which goes with it. */
  readonly logs?: string;
  /** Workers have the rights, and are under the policies, that the chart makes of these values. Default: an administrator's. */
  readonly chart?: ChartValues;
  /** The install (namespace of its Lease) of an earlier one, to follow it. Default: a fresh one. */
  readonly install?: string;
  /** Default that of the cluster. */
  readonly redisUrl?: string;
  /** Variables that say where another Redis is, in the place of a URL. */
  readonly redisEnv?: Readonly<Record<string, string>>;
  /** Variables that say as whom each of them reaches Redis. Default: all as the spec itself does. */
  readonly redisUsers?: Readonly<Record<Kind, Readonly<Record<string, string>>>> | undefined;
}

export type Kind = 'watcher' | 'worker' | 'admin';

const ROOT = join(import.meta.dirname, '../..');

/** An install of Reroll: watchers and workers as separate processes, with a Lease and Redis keys of its own. */
export class Reroll {
  /** POD_NAMESPACE. */
  readonly install: string;
  readonly options: RerollOptions;
  readonly watchers: App[] = [];
  readonly workers: App[] = [];
  readonly admins: App[] = [];
  readonly redis: RedisClient;
  readonly catalog: Catalog;
  readonly queues: Queues;
  readonly history: History;
  /** As whom its workers reach the API server, if by the rights of the chart. */
  readonly account: WorkerAccount | undefined;

  constructor(
    options: RerollOptions,
    at: { install: string; clusterUid: string; account?: WorkerAccount | undefined },
  ) {
    this.options = options;
    this.install = at.install;
    this.account = at.account;
    // A cluster that loses its Redis on purpose is no error here.
    this.redis = openRedis(accessOf(this.redisEnv), { onDown: () => undefined, onUp: () => undefined });
    this.catalog = new Catalog(this.redis, catalogKeys({ cluster: at.clusterUid, namespace: at.install }));
    this.queues = new Queues({
      connection: this.redis,
      prefix: this.catalog.keys.prefix,
      debounce: 0,
      attempts: 5,
      backoff: 1_000,
    });
    this.history = new History(this.redis, this.catalog.keys, {
      maxEntries: 10_000,
      maxAge: 86_400_000,
      maxBytes: 33_554_432,
    });
    cleanUp(async () => {
      await Promise.all(this.apps.map((app) => app.discard()));
      await this.queues.close();
      this.redis.disconnect();
    });
  }

  get redisEnv(): Readonly<Record<string, string>> {
    const { redisEnv, redisUrl, cluster } = this.options;
    if (redisEnv) return redisEnv;
    const url = redisUrl ?? cluster.redisUrl;
    if (url === undefined) throw new Error('expected a cluster with a Redis');
    return { REDIS_URL: url };
  }

  get apps(): readonly App[] {
    return [...this.watchers, ...this.workers, ...this.admins];
  }

  /** Starts one more process, with another Redis if need be; `ready` tells when it is. */
  start(kind: Kind, flags: readonly string[] = [], redisEnv = this.#redisEnvOf(kind)): App {
    const main = join(ROOT, 'apps', kind, 'dist', 'main.js');
    if (!existsSync(main)) throw new Error(`expected ${main} to be built: run \`npm run build\` first`);
    const name = `${kind}-${this[`${kind}s`].length + 1}`;
    const args = [main, ...this.#flags(kind), ...flags];
    const app = new App({
      name,
      args,
      env: {
        KUBECONFIG: (kind === 'worker' && this.account?.kubeconfig) || this.options.cluster.kubeconfig,
        ...redisEnv,
        POD_NAME: name,
        POD_NAMESPACE: this.install,
        ...this.options.env,
      },
      ...(this.options.logs === undefined ? {} : { logs: this.options.logs }),
    });
    this[`${kind}s`].push(app);
    return app;
  }

  /** Resolves when every process is ready and a leader publishes. */
  async ready(): Promise<void> {
    await Promise.all(this.apps.filter(({ isRunning }) => isRunning).map((app) => app.ready()));
    if (this.watchers.length > 0) await this.leader();
  }

  /** The watcher that has begun to publish, once one has that is alive. */
  async leader(within = 30_000): Promise<App> {
    const leads = (app: App): boolean => app.isRunning && app.logs().includes('became leader');
    return await eventually(() => this.watchers.findLast(leads), { what: 'a leader', within });
  }

  async standby(): Promise<App> {
    const leader = await this.leader();
    const standby = this.watchers.find((app) => app.isRunning && app !== leader);
    if (!standby) throw new Error('expected a second watcher that runs');
    return standby;
  }

  /** What all its processes have logged. */
  logs(): string {
    return this.apps.map((app) => app.logs()).join('\n');
  }

  /** What the watcher that leads has logged, or the one that came last if none does yet. */
  leaderLog(): string {
    const running = this.watchers.filter(({ isRunning }) => isRunning);
    const leader = running.findLast((app) => app.logs().includes('became leader'));
    return (leader ?? running.at(-1))?.logs() ?? '';
  }

  /** Outcomes of a workload, or of all, oldest first. */
  async outcomes(space: Space, ref?: Ref): Promise<OutcomeEntry[]> {
    const key = ref === undefined ? undefined : keyIn(space, ref);
    const all = (await this.history.outcomes(10_000)).reverse();
    const prefix = `/${space.name}/`;
    return all.filter(({ workload }) => (key === undefined ? workload.includes(prefix) : workload === key));
  }

  async changes(space: Space, ref: Ref): Promise<ChangeEntry[]> {
    const key = keyIn(space, ref);
    return (await this.history.changes(10_000)).reverse().filter(({ source }) => source === key);
  }

  /** Resolves when no job waits, is delayed or at work. */
  async idle(within = 30_000): Promise<void> {
    const counts = async (): Promise<number> => {
      const queues = [this.queues.changes, this.queues.reloads];
      const each = await Promise.all(
        queues.map((queue) => queue.getJobCounts('wait', 'active', 'delayed', 'prioritized')),
      );
      return each.flatMap((count) => Object.values(count)).reduce((sum, count) => sum + count, 0);
    };
    await eventually(async () => (await counts()) === 0, { what: 'the queues to be empty', within });
  }

  /** Ends all processes of a kind, does this, and starts one with these flags. */
  async replace(
    kind: Kind,
    meanwhile: () => Promise<unknown> = async () => undefined,
    flags: readonly string[] = [],
  ): Promise<void> {
    await Promise.all(this[`${kind}s`].map((app) => app.stop()));
    await meanwhile();
    await this.start(kind, flags).ready();
  }

  /** Ends all its processes. Safe to repeat. */
  async stop(): Promise<void> {
    await Promise.all(this.apps.map((app) => app.stop()));
  }

  #redisEnvOf(kind: Kind): Readonly<Record<string, string>> {
    return { ...this.redisEnv, ...this.options.redisUsers?.[kind] };
  }

  #flags(kind: Kind): string[] {
    const { options } = this;
    if (kind === 'admin') return adminFlags(options.adminFlags);
    const scope = options.namespaces === 'all' ? [] : options.namespaces.map(nameOf);
    const own = kind === 'watcher' ? options.watcherFlags : options.workerFlags;
    // No looking for DeploymentConfigs, unless a spec says otherwise: it would be in everybody's audit log.
    const watcher = [`--adoptions-per-second=${options.adoptionsPerSecond ?? 1_000}`, '--is-openshift=false'];
    if (options.sweepInterval !== undefined) watcher.push(`--sweep-interval=${options.sweepInterval}`);
    return [
      '--metrics-addr=127.0.0.1:0',
      `--debounce=${options.debounce ?? '0'}`,
      ...(scope.length === 0 ? [] : [`--namespaces=${scope.join(',')}`]),
      // Specs reload a workload as often as they like.
      ...(kind === 'watcher' ? watcher : ['--workload-reload-limit=none']),
      ...(options.flags ?? []),
      ...(own ?? []),
    ];
  }
}

/** Starts watchers and workers and resolves when they are ready; they end with the test, or with the file. */
export async function startReroll(options: RerollOptions): Promise<Reroll> {
  const reroll = await prepareReroll(options);
  for (let count = 0; count < (options.watchers ?? 1); count += 1) reroll.start('watcher');
  for (let count = 0; count < (options.workers ?? 1); count += 1) reroll.start('worker');
  for (let count = 0; count < (options.admins ?? 0); count += 1) reroll.start('admin');
  await reroll.ready();
  return reroll;
}

/** An install of which nothing runs yet. */
export async function prepareReroll(options: RerollOptions): Promise<Reroll> {
  const client = connect(options.cluster);
  const { body } = await client.get<{ metadata: { uid: string } }>('/api/v1/namespaces/kube-system');
  const install =
    options.install ?? (await namespace(client, `reroll-${randomBytes(2).toString('hex')}`)).name;
  const account = options.chart && (await workerAccount(options.cluster, install, options.chart));
  return new Reroll(options, {
    install,
    clusterUid: body.metadata.uid,
    account,
  });
}

/** `Deployment/api` to `Deployment/<namespace>/api`. */
export function keyIn<Kind extends string>(space: Space, ref: `${Kind}/${string}`): Key<Kind>;
export function keyIn(space: Space, ref: Ref): string;
export function keyIn(space: Space, ref: Ref): string {
  return ref.replace('/', `/${space.name}/`);
}

function adminFlags(own: readonly string[] = []): string[] {
  const common = ['--metrics-addr=127.0.0.1:0', '--api-addr=127.0.0.1:0', '--api-requests-per-minute=100000'];
  const chosen = own.some((flag) => flag.startsWith('--auth') || flag.startsWith('--static-tokens-file'));
  return [...common, ...(chosen ? [] : ['--auth=static', `--static-tokens-file=${tokensFile()}`]), ...own];
}

function accessOf(env: Readonly<Record<string, string>>): RedisAccess {
  const parsed = parseOptions('worker', [], env);
  if (!parsed.ok) throw new Error(parsed.errors.join('\n'));
  return parsed.options;
}

function nameOf(space: Space | string): string {
  return typeof space === 'string' ? space : space.name;
}
