import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KubeClient, type KubeClientOptions } from '../client/connection.ts';
import { TcpProxy } from './tcp-proxy.ts';
import { startCluster, type TestCluster, type TestClusterOptions } from './test-cluster.ts';

/** A real control plane for one spec file, with helpers for its tests. `stop` ends all that is the file's own. */
export class ControlPlane {
  readonly cluster: TestCluster;
  /** A folder that goes with `stop`. */
  readonly dir: string;
  readonly client: KubeClient;
  readonly #clients: KubeClient[] = [];
  readonly #proxies: TcpProxy[] = [];

  private constructor(cluster: TestCluster, dir: string) {
    this.cluster = cluster;
    this.dir = dir;
    this.client = this.connect();
  }

  static async start(options: TestClusterOptions = {}): Promise<ControlPlane> {
    const dir = mkdtempSync(join(tmpdir(), 'reroll-kube-'));
    return new ControlPlane(await startCluster({ ...options, dir: join(dir, 'cluster') }), dir);
  }

  /** The kubeconfig's text, for tests that change it. */
  get kubeconfig(): string {
    return readFileSync(this.cluster.kubeconfig, 'utf8');
  }

  /** Writes a kubeconfig file with that text and returns its path. */
  writeKubeconfig(text: string): string {
    const path = join(this.dir, `kubeconfig-${randomBytes(6).toString('hex')}`);
    writeFileSync(path, text);
    return path;
  }

  connect(options: Partial<KubeClientOptions> = {}): KubeClient {
    const client = new KubeClient({
      kubeconfig: this.cluster.kubeconfig,
      userAgent: 'reroll-spec/0',
      ...options,
    });
    this.#clients.push(client);
    return client;
  }

  /** Returns a client whose connections go through its own proxy. */
  async throughProxy(): Promise<{ client: KubeClient; proxy: TcpProxy }> {
    const { port } = new URL(this.client.server);
    const proxy = await TcpProxy.start({ host: '127.0.0.1', port: Number(port) });
    this.#proxies.push(proxy);
    const text = this.kubeconfig.replace(`127.0.0.1:${port}`, `127.0.0.1:${proxy.port}`);
    return { client: this.connect({ kubeconfig: this.writeKubeconfig(text) }), proxy };
  }

  /** Creates a namespace and returns its name. */
  async namespace(): Promise<string> {
    const name = `spec-${randomBytes(5).toString('hex')}`;
    await this.client.post('/api/v1/namespaces', { metadata: { name } });
    return name;
  }

  /** Compacts etcd: requests for earlier resourceVersions get a 410. */
  async compact(resourceVersion: string): Promise<void> {
    const url = `http://127.0.0.1:${this.cluster.ports.etcd}/v3/kv/compaction`;
    const body = JSON.stringify({ revision: resourceVersion, physical: true });
    const answer = await fetch(url, { method: 'POST', body });
    if (!answer.ok) throw new Error(`etcd: expected status 200, given ${answer.status}`);
    await answer.arrayBuffer();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()));
    await Promise.all(this.#proxies.map((proxy) => proxy.stop()));
    await this.cluster.stop();
    rmSync(this.dir, { recursive: true, force: true });
  }
}
