import { KubeClient } from '@reroll/kube/client/connection';
import { CredentialStore, loadKubeConfig, type Credentials } from '@reroll/kube/client/credentials';
import { VERSION } from '@reroll/shared/platform/process/version';
import { loadKubeconfig, type KubeFlags } from './kubeconfig.ts';

export const USER_AGENT = `reroll-cli/${VERSION}`;
/** kubectl has no limit by default. */
export const NO_LIMIT_MS = 2_147_483_647;

/** The cluster of the kubeconfig, with the rights of the user. */
export class ClusterAccess {
  readonly client: KubeClient;
  /** `https://host:port`, with the path's prefix. */
  readonly origin: string;
  readonly basePath: string;
  readonly proxyUrl: string | undefined;
  /** The context's namespace; undefined if it has none. */
  readonly namespace: string | undefined;
  readonly isImpersonating: boolean;
  readonly #store: CredentialStore;

  /** @throws a `CliError` if the kubeconfig is unusable */
  constructor(
    flags: KubeFlags,
    env: Readonly<Record<string, string | undefined>>,
    timeoutMs: number | undefined,
  ) {
    const load = (): ReturnType<typeof loadKubeConfig> => loadKubeconfig(flags, env);
    this.client = new KubeClient({ load, userAgent: USER_AGENT, timeoutMs: timeoutMs ?? NO_LIMIT_MS });
    this.#store = new CredentialStore({ load, timeoutMs: timeoutMs ?? NO_LIMIT_MS });
    const { config } = this.#store;
    const url = new URL(config.getCurrentCluster()?.server ?? '');
    this.origin = url.origin;
    this.basePath = url.pathname.replace(/\/$/, '');
    this.proxyUrl = config.getCurrentCluster()?.proxyUrl;
    this.namespace = this.client.namespace;
    this.isImpersonating = Boolean(config.getCurrentUser()?.impersonateUser);
  }

  /** The present credentials: runs exec plugins, reads files again. */
  async credentials(): Promise<Credentials> {
    return await this.#store.get();
  }

  /** The bearer token for the API server; undefined if there is only a client certificate. */
  async bearerToken(): Promise<string | undefined> {
    const { headers } = await this.credentials();
    return /^Bearer (.+)$/i.exec(String(headers['authorization'] ?? ''))?.[1];
  }

  async close(): Promise<void> {
    await this.client.close();
  }
}
