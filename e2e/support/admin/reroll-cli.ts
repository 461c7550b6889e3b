import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse, stringify } from 'yaml';
import type { Cluster } from '../../../tools/cluster/src/cluster.ts';
import { cleanUp } from '../cleanup.ts';
import { MERGE_PATCH } from '@reroll/kube/client/connection';
import type { Space } from '../kube.ts';
import { App, COMPILE_CACHE } from '../processes.ts';

export const CLI = join(import.meta.dirname, '../../../apps/cli/dist/main.js');

export interface Told {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface Who {
  /** For the API server; null: none. Default: that of the cluster's admin. */
  readonly token?: string | null;
  /** Variables of the process, e.g. `REROLL_TOKEN`. */
  readonly env?: Readonly<Record<string, string>>;
}

/** The command line as a process of its own, with a kubeconfig of its own and nothing of the test runner's environment. */
export class RerollCli {
  readonly kubeconfig: string;
  readonly #words: readonly string[];
  readonly #own: Readonly<Record<string, string>>;

  /** `words` come first in every call. */
  constructor(cluster: Cluster, words: readonly string[], { token, env = {} }: Who = {}) {
    const folder = mkdtempSync(join(tmpdir(), 'reroll-e2e-cli-'));
    cleanUp(() => rmSync(folder, { recursive: true, force: true }));
    this.kubeconfig = join(folder, 'kubeconfig');
    this.#words = words;
    this.#own = env;
    const config = parse(readFileSync(cluster.kubeconfig, 'utf8')) as { users: unknown };
    if (token !== undefined) config.users = [{ name: 'admin', user: token === null ? {} : { token } }];
    writeFileSync(this.kubeconfig, stringify(config));
  }

  async run(...words: readonly string[]): Promise<Told> {
    const args = [CLI, ...this.#words, ...words];
    try {
      const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { env: this.env() });
      return { code: 0, out: stdout, err: stderr };
    } catch (error) {
      const { code, stdout, stderr } = error as { code: unknown; stdout: string; stderr: string };
      if (typeof code !== 'number') throw error;
      return { code, out: stdout, err: stderr };
    }
  }

  /** Standard output of a call that is expected to work. */
  async out(...words: readonly string[]): Promise<string> {
    const { code, out, err } = await this.run(...words);
    if (code !== 0) throw new Error(`expected ${words.join(' ')} to end with 0, given ${code}: ${err}`);
    return out;
  }

  /** With `-o json`, read back. */
  async json<T>(...words: readonly string[]): Promise<T> {
    return JSON.parse(await this.out(...words, '-o', 'json')) as T;
  }

  /** One that goes on; its output is `logs()`. */
  start(...words: readonly string[]): App {
    const app = new App({ name: 'cli', args: [CLI, ...this.#words, ...words], env: this.env() });
    cleanUp(() => app.discard());
    return app;
  }

  /** Of its process. */
  env(): Record<string, string> {
    return {
      PATH: process.env['PATH'] ?? '',
      HOME: '/nonexistent',
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      KUBECONFIG: this.kubeconfig,
      ...this.#own,
    };
  }
}

/** An address of this machine that is no loopback: an API server proxies to no other. */
export function ownAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const found = all.find(({ family, internal }) => family === 'IPv4' && !internal);
  if (!found) throw new Error('expected this machine to have an address besides the loopback');
  return found.address;
}

/**
 * The Service of an admin as the chart makes it, in front of a process of this machine. The API server proxies to pods
 * only, so there is one that says to have this address, which nobody runs.
 */
export async function adminService(
  space: Space,
  { address, port }: { readonly address: string; readonly port: number },
): Promise<void> {
  const labels = { 'app.kubernetes.io/part-of': 'reroll', 'app.kubernetes.io/component': 'admin' };
  const name = 'reroll-admin';
  const { client } = space;
  const core = `/api/v1/namespaces/${space.name}`;
  await client.post(`${core}/services`, {
    metadata: { name, labels },
    spec: { ports: [{ name: 'api', port: 80, targetPort: 'api' }] },
  });
  await client.post(`${core}/pods`, {
    metadata: { name },
    spec: { schedulerName: 'nobody', containers: [{ name: 'admin', image: 'admin' }] },
  });
  const status = { phase: 'Running', podIP: address, podIPs: [{ ip: address }] };
  await client.patch(`${core}/pods/${name}/status`, { status }, { contentType: MERGE_PATCH });
  const targetRef = { kind: 'Pod', namespace: space.name, name };
  await client.post(`${core}/endpoints`, {
    metadata: { name },
    subsets: [{ addresses: [{ ip: address, targetRef }], ports: [{ name: 'api', port }] }],
  });
}
