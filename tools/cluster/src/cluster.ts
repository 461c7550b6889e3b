import { resolve } from 'node:path';
import { apiServerLaunch, auditLogFile } from './servers/apiserver.ts';
import { type Binaries, ensureBinaries } from './build/build.ts';
import { controllerManagerLaunch, kwokLaunch, schedulerLaunch } from './servers/clients.ts';
import { etcdLaunch } from './servers/etcd.ts';
import { type NodePrograms, ensureNodePrograms } from './build/build-kube-node.ts';
import { claimFolder } from './folder.ts';
import { type Guard, guard } from './servers/guard.ts';
import { isAlive } from './identity.ts';
import { type KubeAccess, kubeAccess } from './kube-api.ts';
import { kubeconfigFile, writeKubeconfig } from './servers/kubeconfig.ts';
import { createNodes, defaultAccountReady, nodesReady } from './nodes.ts';
import { launchNode } from './node/node.ts';
import { API_SERVER_ARGS } from './node/place.ts';
import { freePort } from './servers/ports.ts';
import { type RedisSource, ensureRedis } from './build/redis-install.ts';
import { redisDataDir, redisLaunch, redisUrl } from './servers/redis.ts';
import { type ReadyOptions, Stack } from './servers/stack.ts';
import { COMPONENTS, type ComponentName, type State, readState, startedComponents } from './state.ts';

export interface ClusterOptions {
  /** Everything is written below it; created when needed, removed again by `stop`. */
  readonly dir: string;
  /** Fake nodes, each with room for 10 000 pods. Default 3. With 0, kwok runs all the same. */
  readonly nodes?: number;
  /**
   * 1 for a node that runs pods, with kubelet, containerd, kube-proxy and DNS; needs root. Default 0. With it pods need
   * service accounts to exist, and get their tokens.
   */
  readonly realNodes?: 0 | 1;
  /** Default true. */
  readonly redis?: boolean;
  /** Default true. Without it a Deployment makes no pods. */
  readonly controllerManager?: boolean;
  /** Default true. Without it pods stay pending. */
  readonly scheduler?: boolean;
  /** `A=true,B=false`, for the three Kubernetes servers. */
  readonly featureGates?: string;
  /** Writes `dir/audit.log`, a line a request, without content. Default false. */
  readonly audit?: boolean;
  /** Another kube-apiserver than that of the control plane; takes `kube-apiserver` as its first argument. */
  readonly apiServer?: string;
  /** Appended to the arguments of kube-apiserver; they win. */
  readonly apiServerArgs?: readonly string[];
  /** Fixed ports. Default: free ones. */
  readonly ports?: Readonly<Partial<Record<ComponentName, number>>>;
  /** Default false: the servers end when this process ends, however that comes about. */
  readonly detached?: boolean;
  /** Progress, a line at a time. Default: standard error. */
  readonly log?: (line: string) => void;
  /** Aborting ends the start; nothing is left behind. */
  readonly signal?: AbortSignal;
}

/** A cluster that runs, or ran: a component may have been killed. */
export interface Cluster {
  readonly dir: string;
  /** Path of a file that is complete in itself; its user is an admin. */
  readonly kubeconfig: string;
  /** Server, authority and token, for requests made by hand with `kube`. */
  readonly access: KubeAccess;
  /** Undefined when the cluster has no Redis. */
  readonly redisUrl: string | undefined;
  /** Holds the append-only files of Redis. */
  readonly redisDataDir: string;
  /** Exists when the audit log was asked for. */
  readonly auditLog: string;
  /** Of the present runs; changes with `restart`. */
  readonly pids: Readonly<Partial<Record<ComponentName, number>>>;
  readonly ports: Readonly<Partial<Record<ComponentName, number>>>;
  /**
   * Sends a signal, SIGKILL by default. With SIGKILL and SIGTERM resolves when the process is gone,
   * with others at once.
   * @throws ClusterError when the cluster has no such component.
   */
  kill(component: ComponentName, signal?: NodeJS.Signals): Promise<void>;
  /** Ends it if it runs, starts it with the same port and data, and resolves when it answers. */
  restart(component: ComponentName): Promise<void>;
  /** From now on the servers outlive this process. Safe to repeat. */
  detach(): Promise<void>;
  /** Ends everything and removes what was written. Safe to repeat. */
  stop(): Promise<void>;
}

/** One component as `clusterStatus` finds it. */
export interface ComponentStatus {
  readonly name: ComponentName;
  readonly running: boolean;
  readonly pid: number;
  readonly port: number;
}

/**
 * Starts a control plane and a Redis on free ports of 127.0.0.1 and resolves when all of it answers
 * and the nodes are Ready: about four seconds, after a build that happens once.
 * @throws ClusterError when something is missing, does not come up, or runs in `dir` already; the
 * reason of `signal` when it aborts. Nothing is left behind in either case.
 */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const dir = resolve(options.dir);
  const parts = await gatherParts(options);
  const stack = new Stack(claimFolder(dir));
  const watch = guard(dir);
  try {
    await bringUp(stack, options, parts);
    stack.markReady();
    if (options.detached === true) await watch.release();
    return handle(stack, watch);
  } catch (error) {
    await stack.remove();
    await watch.release();
    throw error;
  }
}

/** The cluster that another process started in a folder. @throws ClusterError when there is none. */
export function attachCluster(dir: string): Cluster {
  return handle(Stack.open(resolve(dir)), undefined);
}

/** Ends what runs in a folder and removes what it wrote. Returns false when nothing was started there. */
export async function stopCluster(dir: string): Promise<boolean> {
  const state = readState(resolve(dir));
  if (state === undefined) return false;
  await new Stack(state).remove();
  return true;
}

/** What was started in a folder and whether it still runs; empty when nothing was. */
export function clusterStatus(dir: string): ComponentStatus[] {
  const state = readState(resolve(dir));
  if (state === undefined) return [];
  return startedComponents(state).map((component) => {
    const { name, pid, port } = component;
    return { name, running: isAlive(component), pid, port };
  });
}

/** How long one component may take to answer. */
const ANSWERS_WITHIN_MS = 120_000;

/** What a start needs, had before anything is written. */
interface Parts {
  readonly binaries: Binaries;
  readonly redis: RedisSource | undefined;
  readonly node: NodePrograms | undefined;
  readonly ports: Readonly<Record<ComponentName | 'etcdPeer', number>>;
}

async function gatherParts(options: ClusterOptions): Promise<Parts> {
  const { log = logToStderr, signal } = options;
  const redis = options.redis === false ? undefined : await ensureRedis({ log, signal });
  const binaries = await ensureBinaries({ log, signal });
  const node = options.realNodes === 1 ? await ensureNodePrograms({ log, signal }) : undefined;
  const names = [...COMPONENTS, 'etcdPeer'] as const;
  const ports = await Promise.all(names.map(async (name) => [name, await freePort()] as const));
  const free = Object.fromEntries(ports) as Record<(typeof names)[number], number>;
  return { binaries, redis, node, ports: { ...free, ...options.ports } };
}

async function bringUp(stack: Stack, options: ClusterOptions, parts: Parts): Promise<void> {
  const { log = logToStderr, signal } = options;
  const { dir, token } = stack.state;
  const port = parts.ports.apiserver;
  const wait = { signal, timeoutMs: ANSWERS_WITHIN_MS };
  launchServers(stack, options, parts);
  await allReady(stack, wait);
  writeKubeconfig({ dir, port, token });
  log('kube-apiserver answers');
  launchClients(stack, options, parts);
  const access = kubeAccess({ dir, port, token });
  const count = options.nodes ?? 3;
  await createNodes(access, count);
  if (parts.node !== undefined) await launchNode(stack, access, { programs: parts.node, tainted: count > 0 });
  const accounts = parts.node !== undefined && options.controllerManager !== false;
  await Promise.all([
    allReady(stack, wait),
    nodesReady(access, { count, ...wait }),
    accounts ? defaultAccountReady(access, wait) : undefined,
  ]);
}

async function allReady(stack: Stack, options: ReadyOptions): Promise<void> {
  const names = startedComponents(stack.state).map(({ name }) => name);
  await Promise.all(names.map(async (name) => await stack.ready(name, options)));
}

/** What depends on nothing that is running: kube-apiserver itself waits for etcd. */
function launchServers(stack: Stack, options: ClusterOptions, parts: Parts): void {
  const { dir, token } = stack.state;
  const { binaries, ports, redis } = parts;
  const { controlplane } = binaries;
  const { apiServer = controlplane, apiServerArgs = [], audit = false, featureGates } = options;
  const hasNode = parts.node !== undefined;
  stack.launch(etcdLaunch({ dir, controlplane, port: ports.etcd, peerPort: ports.etcdPeer }));
  stack.launch(
    apiServerLaunch({
      dir,
      program: apiServer,
      port: ports.apiserver,
      etcdPort: ports.etcd,
      token,
      featureGates,
      audit,
      serviceAccountAdmission: hasNode,
      extraArgs: [...(hasNode ? API_SERVER_ARGS : []), ...apiServerArgs],
    }),
  );
  if (redis !== undefined) stack.launch(redisLaunch({ dir, port: ports.redis, source: redis }));
}

/** What needs an API server that answers: kube-controller-manager gives up after ten seconds. */
function launchClients(stack: Stack, options: ClusterOptions, parts: Parts): void {
  const { dir } = stack.state;
  const { binaries, ports } = parts;
  const { controllerManager = true, scheduler = true, featureGates } = options;
  const common = { dir, controlplane: binaries.controlplane, featureGates };
  stack.launch(kwokLaunch({ dir, kwok: binaries.kwok, stages: binaries.stages, port: ports.kwok }));
  if (controllerManager) {
    stack.launch(controllerManagerLaunch({ ...common, port: ports.controllerManager }));
  }
  if (scheduler) stack.launch(schedulerLaunch({ ...common, port: ports.scheduler }));
}

function handle(stack: Stack, watch: Guard | undefined): Cluster {
  const { dir, token } = stack.state;
  const redis = stack.state.components.redis;
  return {
    dir,
    kubeconfig: kubeconfigFile(dir),
    access: kubeAccess({ dir, port: stack.component('apiserver').port, token }),
    redisUrl: redis === undefined ? undefined : redisUrl(redis.port),
    redisDataDir: redisDataDir(dir),
    auditLog: auditLogFile(dir),
    get pids() {
      return pick(stack.state, 'pid');
    },
    ports: pick(stack.state, 'port'),
    kill: async (component, signal) => await stack.kill(component, signal),
    restart: async (component) => await stack.restart(component),
    detach: async () => await watch?.release(),
    stop: async () => {
      await stack.remove();
      await watch?.release();
    },
  };
}

function pick(state: State, field: 'pid' | 'port'): Partial<Record<ComponentName, number>> {
  return Object.fromEntries(startedComponents(state).map((component) => [component.name, component[field]]));
}

function logToStderr(line: string): void {
  process.stderr.write(`${line}\n`);
}
