import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../../../tools/cluster/src/run.ts';
import type { Cluster } from '../../../tools/cluster/src/cluster.ts';
import { ensureHelm } from '../../../tools/deploy/ensure-helm.ts';
import { cleanUp } from '../../support/cleanup.ts';

export interface HelmResult {
  readonly code: number;
  /** What it wrote to standard output if it ended well, else the last lines of both outputs. */
  readonly text: string;
}

/** helm, against one cluster, with files of its own. */
export class Helm {
  readonly #program: string;
  readonly #kubeconfig: string;
  readonly #folder: string;
  #files = 0;

  private constructor(program: string, kubeconfig: string) {
    this.#program = program;
    this.#kubeconfig = kubeconfig;
    this.#folder = mkdtempSync(join(tmpdir(), 'reroll-helm-'));
    cleanUp(() => rmSync(this.#folder, { recursive: true, force: true }));
  }

  static async of(cluster: Cluster): Promise<Helm> {
    return new Helm(await ensureHelm({ log: (line) => console.error(line) }), cluster.kubeconfig);
  }

  /** Any exit code is a result. */
  async try(args: readonly string[]): Promise<HelmResult> {
    const home = (name: string): string => join(this.#folder, name);
    const env = {
      KUBECONFIG: this.#kubeconfig,
      HELM_CACHE_HOME: home('cache'),
      HELM_CONFIG_HOME: home('config'),
      HELM_DATA_HOME: home('data'),
    };
    const { code, stdout, tail } = await run(this.#program, args, { env });
    return { code, text: code === 0 ? stdout : tail };
  }

  /** @throws with what helm said unless it ended well. */
  async run(args: readonly string[]): Promise<string> {
    const { code, text } = await this.try(args);
    if (code !== 0) throw new Error(`helm ${args.join(' ')} ended with code ${code}:\n${text}`);
    return text;
  }

  /** Arguments that give these values. */
  values(values: object): string[] {
    this.#files += 1;
    const file = join(this.#folder, `values-${this.#files}.json`);
    writeFileSync(file, JSON.stringify(values));
    return ['--values', file];
  }
}
