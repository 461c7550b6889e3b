import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ensureSealedSecrets,
  type SealedSecrets,
} from '../../../tools/cluster/src/build/build-sealed-secrets.ts';
import type { Cluster } from '../../../tools/cluster/src/cluster.ts';
import { send } from '../../../tools/cluster/src/servers/http.ts';
import { freePort } from '../../../tools/cluster/src/servers/ports.ts';
import { cleanUp } from '../cleanup.ts';
import { installCrdFile } from './crds.ts';
import type { Manifest, Space } from '../kube.ts';
import { App } from '../processes.ts';
import { eventually } from '../wait.ts';

/** The real controller of Sealed Secrets, for one namespace, with its own CRD; all of it goes when the file ends. */
export class SealedSecretsController {
  readonly #programs: SealedSecrets;
  readonly #cluster: Cluster;
  readonly #space: Space;
  readonly #folder = mkdtempSync(join(tmpdir(), 'reroll-e2e-sealed-'));
  #app: App | undefined;
  #port = 0;

  private constructor(programs: SealedSecrets, cluster: Cluster, space: Space) {
    this.#programs = programs;
    this.#cluster = cluster;
    this.#space = space;
    cleanUp(async () => {
      await this.#app?.discard();
      rmSync(this.#folder, { recursive: true, force: true });
    });
  }

  static async start(cluster: Cluster, space: Space): Promise<SealedSecretsController> {
    const programs = await ensureSealedSecrets({ log: (line) => console.error(line) });
    await installCrdFile(cluster, space.client, programs.crd);
    const controller = new SealedSecretsController(programs, cluster, space);
    controller.#mountCredentials();
    await controller.#launch();
    return controller;
  }

  /** Ends its process and starts another. */
  async restart(): Promise<void> {
    await this.#app?.discard();
    await this.#launch();
  }

  /** Has it make a new key, as it does by itself every 30 days, and resolves when new secrets are sealed by it. */
  async renewKey(): Promise<void> {
    const before = await this.certificate();
    await this.#app?.kill('SIGUSR1');
    await eventually(async () => (await this.certificate()) !== before, { what: 'a new certificate' });
  }

  /** Of the newest key: what secrets are sealed with. */
  async certificate(): Promise<string> {
    const { status, body } = await send({ url: `http://127.0.0.1:${this.#port}/v1/cert.pem` });
    if (status !== 200) throw new Error(`expected a certificate, given status ${status}`);
    return body;
  }

  /** What `kubeseal` makes of a Secret. Never the same text twice. */
  async seal(secret: Manifest): Promise<Manifest> {
    const file = join(this.#folder, 'cert.pem');
    writeFileSync(file, await this.certificate());
    const input = JSON.stringify({
      ...secret,
      metadata: { ...secret.metadata, namespace: this.#space.name },
    });
    const output = execFileSync(this.#programs.kubeseal, ['--cert', file, '--format', 'json'], { input });
    return JSON.parse(output.toString()) as Manifest;
  }

  /** How often this process has unsealed something. */
  unsealings(): number {
    return this.#app?.logs().match(/unsealed successfully/gu)?.length ?? 0;
  }

  /** Where a pod would have them mounted. */
  #mountCredentials(): void {
    const { access } = this.#cluster;
    const folder = join(this.#folder, 'serviceaccount');
    mkdirSync(folder);
    writeFileSync(join(folder, 'token'), access.token);
    writeFileSync(join(folder, 'ca.crt'), access.ca);
  }

  async #launch(): Promise<void> {
    const [port, metrics] = [await freePort(), await freePort()];
    const { hostname, port: apiPort } = new URL(this.#cluster.access.server);
    const app = new App({
      name: 'sealed-secrets',
      command: this.#programs.controller,
      cwd: this.#folder,
      args: [
        '--all-namespaces=false',
        `--listen-addr=127.0.0.1:${port}`,
        `--listen-metrics-addr=127.0.0.1:${metrics}`,
        '--key-size=2048',
        '--kubeclient-qps=1000',
        '--kubeclient-burst=1000',
      ],
      env: {
        KUBERNETES_SERVICE_HOST: hostname,
        KUBERNETES_SERVICE_PORT: apiPort,
        POD_NAMESPACE: this.#space.name,
      },
    });
    [this.#app, this.#port] = [app, port];
    const isReady = async (): Promise<boolean> => {
      if (!app.isRunning) throw new Error(`the controller ended:\n${app.logs()}`);
      return (await send({ url: `http://127.0.0.1:${port}/readyz` })).status === 200;
    };
    await eventually(isReady, { what: 'the controller to be ready', within: 60_000 });
  }
}
