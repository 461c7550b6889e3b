import { mkdirSync } from 'node:fs';
import type { Server } from 'node:net';
import { join } from 'node:path';
import { KubeletApi } from './api.ts';
import { guardRun } from './guard.ts';
import type { ImageRule } from './pods/images.ts';
import { Network } from './network.ts';
import { Node } from './node.ts';
import { NodeAgent, serveApiServer } from './node-agent.ts';
import { type Programs, ensurePrograms } from './packages.ts';
import { type PodContext, PodWorker } from './pods/pod-worker.ts';
import { folderOf, newRunName } from './run-name.ts';
import { type HostRow, hostRows, proxyRows, type ProxyRow } from './service-table.ts';
import { Storage } from './pods/storage.ts';
import { Store } from './store.ts';
import { removeDeadRuns, removeRun } from './sweep.ts';
import type { EndpointSlice, Pod, Service } from './types.ts';

export interface KubeletOptions {
  /** Of an admin. */
  readonly kubeconfig: string;
  /** Which images there are, and what stands for each. */
  readonly images: readonly ImageRule[];
  /** Names of the nodes; one process is the kubelet of them all. Default: `kubelet-0`. */
  readonly nodes?: readonly string[];
  /** First pause before a container that ended is started again; it doubles. Default 10 000 ms, as a kubelet's. */
  readonly backoffMs?: number;
  /** How often volumes are brought up to date. Default 10 000 ms. */
  readonly refreshMs?: number;
  /** Default: none. */
  readonly log?: (line: string) => void;
}

/**
 * Runs the pods bound to its nodes as local processes: see tools/kubelet/README.md. It ends with `stop`, or with
 * this process; in both cases nothing is left.
 */
export class Kubelet {
  /** Logs of containers, the sockets into the pods' network; gone after `stop`. */
  readonly folder: string;
  readonly #run: string;
  readonly #options: KubeletOptions;
  readonly #api: KubeletApi;
  readonly #nodes: readonly Node[];
  readonly #workers = new Map<string, PodWorker>();
  readonly #services: Store<Service>;
  readonly #slices: Store<EndpointSlice>;
  readonly #pods: readonly Store<Pod>[];
  readonly #storage: Storage;
  readonly #release: () => Promise<void>;
  #programs: Programs | undefined;
  #context: PodContext | undefined;
  #agent: NodeAgent | undefined;
  #door: Server | undefined;
  #hosts: readonly HostRow[] = [];
  #serving: Promise<void> = Promise.resolve();
  #isStopped = false;

  private constructor(options: KubeletOptions) {
    this.#options = options;
    this.#run = newRunName();
    this.folder = folderOf(this.#run);
    mkdirSync(this.folder, { recursive: true, mode: 0o755 });
    this.#release = guardRun(this.#run);
    this.#api = new KubeletApi(options.kubeconfig);
    this.#nodes = (options.nodes ?? ['kubelet-0']).map((name) => new Node(name, this.#api));
    this.#storage = new Storage(this.#api, this.folder);
    const { client } = this.#api;
    const onChange = (): void => this.#serve();
    this.#services = new Store({ client, path: '/api/v1/services', onChange });
    this.#slices = new Store({ client, path: '/apis/discovery.k8s.io/v1/endpointslices', onChange });
    this.#pods = this.#nodes.map(({ name }): Store<Pod> => {
      const fieldSelector = `spec.nodeName=${name}`;
      const store: Store<Pod> = new Store({
        client,
        path: '/api/v1/pods',
        fieldSelector,
        onChange: (uid) => this.#see(uid, store.get(uid)),
      });
      return store;
    });
  }

  /**
   * Resolves when its nodes are ready for pods.
   * @throws KubeletError that says what is missing; nothing is left behind then.
   */
  static async start(options: KubeletOptions): Promise<Kubelet> {
    const programs = await ensurePrograms(options.log ?? (() => undefined));
    await removeDeadRuns(programs.ip);
    const kubelet = new Kubelet(options);
    try {
      await kubelet.#start(programs);
      return kubelet;
    } catch (error) {
      await kubelet.stop();
      throw error;
    }
  }

  /** Of the first process of a container, as the host sees it; undefined when it does not run. */
  async pid(pod: { namespace: string; name: string }, container: string): Promise<number | undefined> {
    const worker = [...this.#workers.values()].find(
      ({ pod: { metadata } }) => metadata.namespace === pod.namespace && metadata.name === pod.name,
    );
    return await worker?.pid(container);
  }

  /** Ends every pod at once and removes all that was made. Safe to repeat. */
  async stop(): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    for (const node of this.#nodes) node.stop();
    const stores = [this.#services, this.#slices, ...this.#pods];
    await Promise.all([...stores.map((store) => store.stop()), this.#storage.stop()]);
    await Promise.all([...this.#workers.values()].map((worker) => worker.remove()));
    this.#agent?.stop();
    this.#door?.close();
    await this.#api.client.close();
    await removeRun(this.#run, this.#programs?.ip);
    await this.#release();
  }

  async #start(programs: Programs): Promise<void> {
    const { folder } = this;
    this.#programs = programs;
    this.#door = await serveApiServer(join(folder, 'api.sock'), this.#api.client.server);
    const network = await Network.create(this.#run, programs.ip);
    this.#agent = await NodeAgent.start({ folder, namespace: network.node, programs });
    this.#context = {
      folder,
      network,
      programs,
      api: this.#api,
      images: this.#options.images,
      backoffMs: this.#options.backoffMs ?? 10_000,
      refreshMs: this.#options.refreshMs ?? 10_000,
      services: () => this.#services.all,
      hosts: () => this.#hosts,
      claim: (namespace, name) => this.#storage.claim(namespace, name),
    };
    await Promise.all([this.#services.start(), this.#slices.start(), this.#storage.start()]);
    await this.#serving;
    await Promise.all(this.#pods.map((store) => store.start()));
    await Promise.all(this.#nodes.map((node) => node.register()));
  }

  #see(uid: string, pod: Pod | undefined): void {
    const worker = this.#workers.get(uid);
    if (pod !== undefined) {
      if (worker) worker.update(pod);
      else this.#add(uid, pod);
      return;
    }
    void worker?.remove().finally(() => this.#workers.delete(uid));
  }

  #add(uid: string, pod: Pod): void {
    if (this.#context === undefined || this.#isStopped) return;
    const worker = new PodWorker(pod, this.#context);
    this.#workers.set(uid, worker);
    worker.update(pod);
  }

  /** Brings Services into the node's network and into the hosts files, one time after the other. */
  #serve(): void {
    const before = this.#serving;
    this.#serving = (async () => {
      await before;
      await this.#serveOnce();
    })().catch((error: unknown) => this.#options.log?.(String(error)));
  }

  async #serveOnce(): Promise<void> {
    const [services, slices] = [this.#services.all, this.#slices.all];
    this.#hosts = hostRows(services, slices);
    const rows = proxyRows(services, slices).map((row) => this.#withApiServer(row, services));
    await this.#agent?.serve(rows);
    for (const worker of this.#workers.values()) worker.writeHosts();
  }

  /** The Service `kubernetes` has no endpoints here: it leads to this host's API server. */
  #withApiServer(row: ProxyRow, services: readonly Service[]): ProxyRow {
    const kubernetes = services.find(
      ({ metadata }) => metadata.namespace === 'default' && metadata.name === 'kubernetes',
    );
    if (row.ip !== kubernetes?.spec.clusterIP) return row;
    return { ...row, targets: [`unix:${join(this.folder, 'api.sock')}`] };
  }
}
