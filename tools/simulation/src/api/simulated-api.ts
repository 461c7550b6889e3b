import { KubeConfig } from '@kubernetes/client-node';
import type { Dispatcher } from 'undici';
import type { Owner, Scheduler } from '../scheduler.ts';
import { ApiServer } from './api-server.ts';
import type { ApiRequest } from './api-request.ts';
import { Etcd, type Backup, type Change } from './etcd.ts';
import type { EventType, OpenWatch } from './open-watch.ts';
import { typeOfKind, type ResourceType } from './resource-types.ts';
import { SimulatedPool, type TreatRequest } from './simulated-pool.ts';
import { WorldWriter } from './world-writer.ts';
import { Writes } from './writes.ts';

/** A finished request. */
export interface RequestSeen {
  readonly request: ApiRequest;
  readonly owner: Owner | undefined;
  /** The HTTP status; 0 without an answer. */
  readonly status: number;
}

export interface SimulatedApiOptions {
  readonly scheduler: Scheduler;
  /** Names of the servers. Default: one, `api`. */
  readonly servers?: readonly string[];
  /** Kinds of custom resources that are not served at first. */
  readonly absentKinds?: readonly string[];
  /** Default: 1 ms there, 1 ms back, done. */
  readonly treat?: TreatRequest;
  /** Milliseconds that an event of a watch takes. Default 1. */
  readonly eventLatency?: (watch: OpenWatch, type: EventType) => number;
  readonly onRequest?: (seen: RequestSeen) => void;
}

/** The namespaces of every cluster. */
const NAMESPACES = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];

/** A cluster's etcd with its API servers, in memory. What takes time goes through the scheduler. */
export class SimulatedApi {
  readonly etcd: Etcd;
  readonly servers: readonly ApiServer[];
  /** Requests that no rule covers, and malformed ones, as `STATUS METHOD path`: a run fails if there are any. */
  readonly unknown: string[] = [];
  readonly #options: SimulatedApiOptions;
  readonly #writes: Writes;
  readonly #absent: Set<ResourceType>;

  constructor(options: SimulatedApiOptions) {
    const { scheduler } = options;
    this.#options = options;
    this.etcd = new Etcd(() => scheduler.now());
    this.#writes = new Writes(this.etcd, () => scheduler.random());
    this.#absent = new Set((options.absentKinds ?? []).map(typeOfKind));
    const cluster = {
      scheduler,
      etcd: this.etcd,
      writes: this.#writes,
      isServed: (type: ResourceType): boolean => !this.#absent.has(type),
      onUnknown: ({ method, path }: ApiRequest, status: number): void =>
        void this.unknown.push(`${status} ${method} ${path}`),
      eventLatency: options.eventLatency ?? (() => 1),
    };
    this.servers = (options.servers ?? ['api']).map((name) => new ApiServer(name, cluster));
    this.etcd.onChange((change) => {
      for (const server of this.servers) server.receive(change);
    });
    const own = this.as('kube-apiserver');
    for (const name of NAMESPACES) own.create({ kind: 'Namespace', namespace: '' }, { metadata: { name } });
  }

  /** The server of that name; without a name the first. Throws a `RangeError` for an unknown one. */
  server(name?: string): ApiServer {
    const found = name === undefined ? this.servers[0] : this.servers.find((each) => each.name === name);
    if (found === undefined) throw new RangeError(`expected the name of a server, given ${name}`);
    return found;
  }

  /** Connections of a process, which reach the server that the function names: give `KubeClientOptions.openPool` this. */
  pool(owner: Owner | undefined, server: () => ApiServer = () => this.server()): Dispatcher {
    const { scheduler, treat = () => ({ before: 1, after: 1, fate: 'done' }), onRequest } = this.#options;
    return new SimulatedPool({
      scheduler,
      owner,
      server,
      treat,
      onAnswer: (request, who, status) => onRequest?.({ request, owner: who, status }),
    });
  }

  /** Writes and reads of the world at once, without the network. The manager is the field manager. */
  as(manager: string, owner?: Owner): WorldWriter {
    const { etcd } = this;
    return new WorldWriter({
      etcd,
      writes: this.#writes,
      author: { owner, manager },
      now: () => this.#options.scheduler.now(),
    });
  }

  /** Calls the listener at once after each write that is committed, whoever made it. The listener must not write itself. */
  onChange(listener: (change: Change) => void): void {
    this.etcd.onChange(listener);
  }

  /** The watches that are open on any server. */
  get watches(): readonly OpenWatch[] {
    return this.servers.flatMap((server) => server.watches);
  }

  /** Adds or removes the API of a custom resource. Its objects stay, and are there again with it; its watches end. */
  setServed(kind: string, isServed: boolean): void {
    const type = typeOfKind(kind);
    if (isServed) this.#absent.delete(type);
    else this.#absent.add(type);
    if (!isServed) for (const server of this.servers) server.cutWatches('end', type);
  }

  /** etcd forgets all states before the revision: later pages of older lists get a 410. Caches of servers keep theirs. */
  compact(revision: number): void {
    this.etcd.compact(revision);
  }

  backUp(): Backup {
    return this.etcd.backUp();
  }

  /**
   * Sets etcd back to the backup, and restarts the servers; controllers have to `resync`. With `bump`, revisions go on that much
   * higher, and earlier ones count as compacted.
   */
  restore(backup: Backup, bump = 0): void {
    this.etcd.restore(backup, bump);
    for (const server of this.servers) server.restart();
  }
}

/** What `KubeClientOptions.load` gives in a simulation: a server without credentials. */
export function simulatedKubeConfig(namespace = 'default'): KubeConfig {
  const config = new KubeConfig();
  config.loadFromOptions({
    clusters: [{ name: 'simulated', server: 'http://api.simulated', skipTLSVerify: true }],
    users: [{ name: 'simulated' }],
    contexts: [{ name: 'simulated', cluster: 'simulated', user: 'simulated', namespace }],
    currentContext: 'simulated',
  });
  return config;
}
