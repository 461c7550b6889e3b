import { createHash } from 'node:crypto';
import type { RequestOptions } from 'node:https';
import { delimiter } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { KubeError } from './errors.ts';

/** Where the connection's settings come from. */
export interface KubeConfigSource {
  /**
   * Path of a kubeconfig file, or several as in the variable `KUBECONFIG`. Without it: the variable, then
   * `~/.kube/config`, then the service account of the pod.
   */
  readonly kubeconfig?: string | undefined;
  /** A context of the kubeconfig other than its current one. */
  readonly context?: string | undefined;
  /** Loads the settings instead, for whoever has rules of their own for it (the command line has kubectl's). */
  readonly load?: (() => KubeConfig) | undefined;
}

/** What TLS needs; passed to `tls.connect`. */
export type TlsMaterial = Readonly<Record<string, unknown>>;

/** What a request needs besides itself. */
export interface Credentials {
  /** `authorization`, `impersonate-user`; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: TlsMaterial;
  /** A digest that changes when the TLS material does: connections have then to be made anew. */
  readonly tlsDigest: string;
  /** A digest of everything, to tell whether a refresh brought anything. */
  readonly digest: string;
}

const TLS_KEYS = ['ca', 'cert', 'key', 'pfx', 'passphrase', 'rejectUnauthorized', 'servername'] as const;

function unusable(reason: string): KubeError {
  return new KubeError({ code: 'KUBE_CREDENTIALS', request: 'kubeconfig', reason, retryable: false });
}

/** Reads the kubeconfig. Throws a `KubeError` KUBE_CREDENTIALS that says which part is missing. */
export function loadKubeConfig(source: KubeConfigSource): KubeConfig {
  const config = source.load?.() ?? loadFiles(source);
  const cluster = config.getCurrentCluster();
  if (!cluster?.server) throw unusable('NoCurrentCluster');
  if (!URL.canParse(cluster.server)) throw unusable('ServerIsNoUrl');
  if (cluster.server.startsWith('http:') && !cluster.skipTLSVerify) {
    throw unusable('PlainHttpNeedsInsecureSkipTlsVerify');
  }
  return config;
}

function loadFiles(source: KubeConfigSource): KubeConfig {
  const config = new KubeConfig();
  try {
    loadInto(config, source.kubeconfig);
  } catch {
    // The library's message can quote the file's content.
    throw unusable('FileUnreadable');
  }
  if (source.context !== undefined) config.setCurrentContext(source.context);
  return config;
}

function loadInto(config: KubeConfig, path: string | undefined): void {
  if (path === undefined || path === '') {
    config.loadFromDefault();
    return;
  }
  const [first = '', ...others] = path.split(delimiter).filter((part) => part !== '');
  config.loadFromFile(first);
  for (const other of others) {
    const more = new KubeConfig();
    more.loadFromFile(other);
    config.mergeConfig(more, true);
  }
}

/** Whether nothing in the user's or the cluster's entry is read from elsewhere, so that it cannot change. */
export function isStatic(config: KubeConfig): boolean {
  const user = config.getCurrentUser();
  const cluster = config.getCurrentCluster();
  return !(user?.exec || user?.authProvider || user?.certFile || user?.keyFile || cluster?.caFile);
}

/** Asks the library for the present credentials: it runs exec plugins, reads token files, refreshes OIDC. */
export async function readCredentials(config: KubeConfig): Promise<Credentials> {
  const options: RequestOptions = {};
  try {
    await config.applyToHTTPSOptions(options);
  } catch {
    // An exec plugin's error is its stderr, which nobody vouches for.
    throw new KubeError({
      code: 'KUBE_CREDENTIALS',
      request: 'credentials',
      reason: 'NotObtained',
      retryable: true,
    });
  }
  const tls: Record<string, unknown> = {};
  for (const key of TLS_KEYS) {
    if (options[key] !== undefined) tls[key] = options[key];
  }
  const headers = headersOf(options);
  const tlsDigest = digestOf(tls);
  return { headers, tls, tlsDigest, digest: digestOf({ headers, tlsDigest }) };
}

function digestOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64');
}

function headersOf(options: RequestOptions): Record<string, string> {
  const headers: Record<string, string> = {};
  if (options.auth) headers['authorization'] = `Basic ${Buffer.from(options.auth).toString('base64')}`;
  for (const [name, value] of Object.entries(options.headers ?? {})) {
    headers[name.toLowerCase()] = String(value).trim();
  }
  return headers;
}

/** No more than one look at rotating credentials in this time; client-go's is 60 s for token files. */
const REFRESH_MS = 10_000;
/** Nor more than one reading of everything in this time, however many requests are refused. */
const RELOAD_MS = 1000;

/**
 * The credentials in force. Static ones are read once; rotating ones at most every 10 s, without holding
 * up requests while the old ones still stand. After a 401 everything is read anew, the kubeconfig included.
 */
export class CredentialStore {
  readonly #source: KubeConfigSource;
  #config: KubeConfig;
  #current: Credentials | undefined;
  #readAt = 0;
  #reloadedAt = -Infinity;
  #reading: Promise<Credentials> | undefined;

  constructor(source: KubeConfigSource) {
    this.#source = source;
    this.#config = loadKubeConfig(source);
  }

  get config(): KubeConfig {
    return this.#config;
  }

  /** Present credentials; a promise only the first time. */
  get(): Credentials | Promise<Credentials> {
    if (this.#current === undefined) return this.#read();
    if (!isStatic(this.#config) && performance.now() - this.#readAt > REFRESH_MS) {
      // Failing to refresh is found out by the request itself: a 401 reads again and reports.
      this.#read().catch(() => undefined);
    }
    return this.#current;
  }

  /** After a 401 for `refused`: other credentials, or undefined if there are none to be had. */
  async replace(refused: Credentials): Promise<Credentials | undefined> {
    await this.#reading?.catch(() => undefined);
    if (this.#current?.digest !== refused.digest) return this.#current;
    if (performance.now() - this.#reloadedAt < RELOAD_MS) return undefined;
    this.#reloadedAt = performance.now();
    this.#config = loadKubeConfig(this.#source);
    const fresh = await this.#read();
    return fresh.digest === refused.digest ? undefined : fresh;
  }

  #read(): Promise<Credentials> {
    this.#readAt = performance.now();
    this.#reading ??= readCredentials(this.#config)
      .then((credentials) => (this.#current = credentials))
      .finally(() => (this.#reading = undefined));
    return this.#reading;
  }
}
