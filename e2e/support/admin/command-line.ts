import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureProgram } from '../../../tools/cluster/src/build/build-program.ts';
import type { Cluster } from '../../../tools/cluster/src/cluster.ts';
import { run } from '../../../tools/cluster/src/run.ts';
import { ensureHelm } from '../../../tools/deploy/ensure-helm.ts';
import { cleanUp } from '../cleanup.ts';
import type { Manifest, Space } from '../kube.ts';

/** The real kubectl and the real helm, in one namespace. Building them once takes minutes. */
export class CommandLine {
  readonly #programs: { readonly kubectl: string; readonly helm: string };
  readonly #folder = mkdtempSync(join(tmpdir(), 'reroll-e2e-command-line-'));
  readonly #kubeconfig: string;
  readonly #namespace: string;

  private constructor(programs: { kubectl: string; helm: string }, cluster: Cluster, { name }: Space) {
    this.#programs = programs;
    this.#kubeconfig = cluster.kubeconfig;
    this.#namespace = name;
    cleanUp(() => rmSync(this.#folder, { recursive: true, force: true }));
  }

  static async open(cluster: Cluster, space: Space): Promise<CommandLine> {
    const log = (line: string): void => console.error(line);
    const programs = { kubectl: await ensureProgram('kubectl', { log }), helm: await ensureHelm({ log }) };
    return new CommandLine(programs, cluster, space);
  }

  /** `kubectl apply`, with these arguments too. */
  async apply(manifest: Manifest, ...args: readonly string[]): Promise<void> {
    const file = join(this.#folder, `${manifest.metadata.name}.json`);
    writeFileSync(file, JSON.stringify(manifest));
    await this.kubectl('apply', '--filename', file, ...args);
  }

  async kubectl(...args: readonly string[]): Promise<void> {
    await this.#run('kubectl', args);
  }

  /** `helm upgrade --install` of a chart with this one manifest, under the manifest's name. */
  async upgrade(manifest: Manifest): Promise<void> {
    const { name } = manifest.metadata;
    const chart = join(this.#folder, `chart-${name}`);
    mkdirSync(join(chart, 'templates'), { recursive: true });
    writeFileSync(join(chart, 'Chart.yaml'), `apiVersion: v2\nname: ${name}\nversion: 1.0.0\n`);
    writeFileSync(join(chart, 'templates', 'manifest.yaml'), JSON.stringify(manifest));
    await this.helm('upgrade', '--install', name, chart);
  }

  async helm(...args: readonly string[]): Promise<void> {
    await this.#run('helm', args);
  }

  async #run(program: 'kubectl' | 'helm', args: readonly string[]): Promise<void> {
    const all = ['--kubeconfig', this.#kubeconfig, '--namespace', this.#namespace, ...args];
    // Both keep what they learn of the API below their home.
    const { code, tail } = await run(this.#programs[program], all, { env: { HOME: this.#folder } });
    if (code !== 0) throw new Error(`expected ${program} ${args.join(' ')} to succeed: ${tail}`);
  }
}
