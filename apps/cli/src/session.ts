import { AdminApi, type Way } from './api/admin-api.ts';
import { durationArgument } from './args/values.ts';
import { bearerForAdmin, DEFAULT_AUDIENCE } from './connect/bearer.ts';
import { ClusterAccess, NO_LIMIT_MS } from './connect/cluster-access.ts';
import { DEFAULT_ADMIN_NAMESPACE, findAdmin, type AdminService } from './connect/find-admin.ts';
import type { Globals } from './connect/globals.ts';
import { forwardRoute, isReadableOnTheWay, proxyRoute, serverRoute, type Bearer } from './connect/routes.ts';
import { CliError, usageError } from './errors.ts';
import type { Io } from './io.ts';

const BOTH_HINT =
  'with --server both say who calls the admin: --token by that token, --as by a token of ten minutes';

/** Milliseconds for which a token of ten minutes is used. */
const TOKEN_USE_MS = 8 * 60_000;

/** One run of the program: its flags, and what was opened because of them. */
export class Session {
  readonly io: Io;
  readonly globals: Globals;
  readonly timeoutMs: number;
  #cluster: ClusterAccess | undefined;
  #asOneself: ClusterAccess | undefined;
  #admin: Promise<AdminApi | undefined> | undefined;

  constructor(io: Io, globals: Globals) {
    this.io = io;
    this.globals = globals;
    this.timeoutMs = durationArgument('--request-timeout', globals.requestTimeout) ?? NO_LIMIT_MS;
  }

  /** The cluster of the kubeconfig. @throws a `CliError` if there is none */
  get cluster(): ClusterAccess {
    this.#cluster ??= new ClusterAccess(this.globals, this.io.env, this.timeoutMs);
    return this.#cluster;
  }

  /** The namespace of `-n`, else of the context, else `default`. */
  get namespace(): string {
    const { namespace } = this.globals;
    if (namespace !== undefined) return namespace;
    // With --server a kubeconfig is not needed, but its namespace counts if there is one.
    return (this.#server === undefined ? this.cluster.namespace : this.#contextNamespace()) ?? 'default';
  }

  /** The namespace of `-n`; undefined if it is not given, or completes the name of the service account. */
  get namedNamespace(): string | undefined {
    const account = this.globals.serviceAccount ?? this.#env('REROLL_SERVICE_ACCOUNT');
    const isOfAccount = account !== undefined && !account.includes('/');
    return isOfAccount ? undefined : this.globals.namespace;
  }

  /** The namespace of a single object. @throws a usage error with `-A` */
  get namespaceOfObject(): string {
    if (this.globals.allNamespaces === true)
      throw usageError('expected no --all-namespaces with a single object');
    return this.namespace;
  }

  /** The namespace of lists; undefined for all namespaces. */
  get namespaceOfLists(): string | undefined {
    return this.globals.allNamespaces === true ? undefined : this.namespace;
  }

  /** Where the admin is; undefined if nobody named a namespace. */
  get adminNamespace(): string | undefined {
    return this.globals.adminNamespace ?? this.#env('REROLL_ADMIN_NAMESPACE');
  }

  /** @throws a `CliError` if there is no admin */
  async admin(): Promise<AdminApi> {
    const admin = await this.adminIfAny();
    if (admin !== undefined) return admin;
    const namespace = this.adminNamespace ?? DEFAULT_ADMIN_NAMESPACE;
    throw new CliError(`found no admin of Reroll in the namespace ${namespace} of ${this.cluster.origin}`, {
      hints: [
        'is it installed (admin.enabled=true), and are you in the right cluster? --context chooses another',
        'say where it is with --admin-namespace, or with --server URL',
      ],
    });
  }

  /** Undefined if there is none where it is looked for. @throws an `AdminElsewhere` if there is one that is not trusted */
  async adminIfAny(): Promise<AdminApi | undefined> {
    this.#admin ??= this.#openAdmin();
    return await this.#admin;
  }

  async close(): Promise<void> {
    const admin = await this.#admin?.catch(() => undefined);
    await admin?.close();
    await this.#cluster?.close();
    await this.#asOneself?.close();
  }

  get #server(): string | undefined {
    return this.globals.server ?? this.#env('REROLL_SERVER');
  }

  async #openAdmin(): Promise<AdminApi | undefined> {
    const ways = await this.#ways();
    if (ways === undefined) return undefined;
    return new AdminApi({ ways, timeoutMs: this.timeoutMs, signal: this.io.signal });
  }

  async #ways(): Promise<readonly Way[] | undefined> {
    const server = this.#server;
    const { via, certificateAuthority } = this.globals;
    if (server !== undefined) {
      const bearer = this.#bearer(server);
      return [{ open: () => Promise.resolve(serverRoute(server, bearer, certificateAuthority)) }];
    }
    const service = await this.#findService();
    if (service === undefined) return undefined;
    const bearer = this.#bearer(undefined);
    const proxy: Way = { open: () => proxyRoute(this.cluster, service, bearer) };
    const forward: Way = { open: () => forwardRoute(this.cluster, service, bearer) };
    return { auto: [proxy, forward], proxy: [proxy], 'port-forward': [forward] }[via];
  }

  #findService(): Promise<AdminService | undefined> {
    return findAdmin(this.cluster.client, {
      adminNamespace: this.adminNamespace,
      adminService: this.globals.adminService ?? this.#env('REROLL_ADMIN_SERVICE'),
    });
  }

  /** Undefined: through the API server. Without a token, the admin may still accept anonymous callers. */
  #bearer(server: string | undefined): Bearer {
    const bearer = this.#chosenBearer(server);
    if (bearer === undefined) return () => Promise.resolve(undefined);
    if (server === undefined || !isReadableOnTheWay(server) || this.#allowsHttp) return bearer;
    throw new CliError('a token is not sent over plain http to another machine', {
      hints: ['use an https URL, or a port-forward', 'or --allow-http, where nobody reads the traffic'],
    });
  }

  #chosenBearer(server: string | undefined): Bearer | undefined {
    const { token, serviceAccount, as, sendKubeconfigToken } = this.globals;
    if (serviceAccount !== undefined) return this.#bearerOfCluster(serviceAccount);
    // Without --server, --token is for the API server, as in kubectl.
    if (server !== undefined && token !== undefined) {
      if (as === undefined) return () => Promise.resolve(token);
      throw usageError('expected --token or --as with --server, given both', BOTH_HINT);
    }
    if (as !== undefined || sendKubeconfigToken === true) return this.#bearerOfCluster(undefined);
    return this.#bearerOfVariables(server);
  }

  #bearerOfVariables(server: string | undefined): Bearer | undefined {
    const token = this.#env('REROLL_TOKEN');
    if (token !== undefined) return () => Promise.resolve(token);
    const account = this.#env('REROLL_SERVICE_ACCOUNT');
    return account !== undefined || server === undefined ? this.#bearerOfCluster(account) : undefined;
  }

  get #allowsHttp(): boolean {
    return this.globals.allowHttp ?? this.#env('REROLL_ALLOW_HTTP') === 'true';
  }

  /** An empty variable counts as unset. */
  #env(name: string): string | undefined {
    return this.io.env[name] || undefined;
  }

  /** One token for the whole run, unless it is the kubeconfig's and changes. */
  #bearerOfCluster(serviceAccount: string | undefined): Bearer {
    const { as, audience, sendKubeconfigToken } = this.globals;
    const asOneself = (): ClusterAccess => this.#oneself();
    const ask: Bearer = () =>
      bearerForAdmin(this.cluster, {
        serviceAccount,
        as,
        namespace: this.namespace,
        asOneself,
        audience: audience ?? this.#env('REROLL_AUDIENCE') ?? DEFAULT_AUDIENCE,
        sendsKubeconfigToken: sendKubeconfigToken ?? false,
      });
    return serviceAccount === undefined && as === undefined ? ask : remembered(ask, this.io.now);
  }

  /** The cluster without `--as`. */
  #oneself(): ClusterAccess {
    const { as, ...flags } = this.globals;
    if (as === undefined) return this.cluster;
    this.#asOneself ??= new ClusterAccess(flags, this.io.env, this.timeoutMs);
    return this.#asOneself;
  }

  #hasKubeconfig(): boolean {
    try {
      return this.cluster.origin !== '';
    } catch {
      return false;
    }
  }

  #contextNamespace(): string | undefined {
    return this.#hasKubeconfig() ? this.cluster.namespace : undefined;
  }
}

/** Asks once, and again when the result is about to expire. */
function remembered(ask: Bearer, now: () => number): Bearer {
  let asked: { readonly token: ReturnType<Bearer>; readonly at: number } | undefined;
  return () => {
    if (asked === undefined || now() - asked.at > TOKEN_USE_MS) asked = { token: ask(), at: now() };
    return asked.token;
  };
}
