import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { RequestOptions } from 'node:https';
import { delimiter, join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { KubeError } from './errors.ts';
import {
  impersonationOf,
  mergedKubeconfigs,
  readKubeconfig,
  type RequestHeaders,
} from './kubeconfig-files.ts';

/** Where the settings of the connection come from. */
export interface KubeConfigSource {
  /**
   * Path of a kubeconfig file, or several as in the variable `KUBECONFIG`. Default: the variable, then `~/.kube/config`, then the
   * pod's service account.
   */
  readonly kubeconfig?: string | undefined;
  /** A context of the kubeconfig other than its current one. */
  readonly context?: string | undefined;
  /** Loads the settings instead, for callers with their own rules (the command line follows kubectl's). */
  readonly load?: (() => KubeConfig) | undefined;
}

/** TLS settings, passed to `tls.connect`. */
export type TlsMaterial = Readonly<Record<string, unknown>>;

export interface Credentials {
  /** `authorization`, `impersonate-user`, … */
  readonly headers: RequestHeaders;
  readonly tls: TlsMaterial;
  /** A digest of the TLS settings. When it changes, new connections are needed. */
  readonly tlsDigest: string;
  /** A digest of everything, to tell whether a refresh changed anything. */
  readonly digest: string;
}

const TLS_KEYS = ['ca', 'cert', 'key', 'pfx', 'passphrase', 'rejectUnauthorized', 'servername'] as const;

/** The context of the library's own settings, http://localhost:8080, where it finds none. */
const FALLBACK_CONTEXT = 'loaded-context';

function unusable(reason: string, request = 'kubeconfig'): KubeError {
  return new KubeError({ code: 'KUBE_CREDENTIALS', request, reason, retryable: false });
}

function notObtained(): KubeError {
  return new KubeError({
    code: 'KUBE_CREDENTIALS',
    request: 'credentials',
    reason: 'NotObtained',
    retryable: true,
  });
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

/** The cluster of a kubeconfig, with a token as the only credentials. */
export function tokenConfig(config: KubeConfig, token: string): KubeConfig {
  const cluster = config.getCurrentCluster();
  if (!cluster) throw unusable('NoCurrentCluster');
  const only = new KubeConfig();
  only.loadFromOptions({
    clusters: [cluster],
    users: [{ name: 'token', token }],
    contexts: [{ name: 'token', cluster: cluster.name, user: 'token' }],
    currentContext: 'token',
  });
  return only;
}

function loadFiles(source: KubeConfigSource): KubeConfig {
  const files = filesOf(source);
  const config = fromFiles(files);
  if (files.length === 0 && config.getCurrentContext() === FALLBACK_CONTEXT)
    throw unusable(
      'NoKubeconfig',
      "no kubeconfig in KUBECONFIG, ~/.kube/config or the pod's service account",
    );
  if (source.context !== undefined) config.setCurrentContext(source.context);
  return config;
}

function fromFiles(files: readonly string[]): KubeConfig {
  try {
    if (files.length > 0) return files.map(readKubeconfig).reduce(mergedKubeconfigs);
    const config = new KubeConfig();
    config.loadFromDefault();
    return config;
  } catch (error) {
    // The library's message can quote the file.
    const reason = (error as { code?: unknown }).code === undefined ? 'FileIsNoKubeconfig' : 'FileUnreadable';
    throw unusable(reason, `kubeconfig ${files.join(', ')}`.trim());
  }
}

function filesOf({ kubeconfig }: KubeConfigSource): string[] {
  // oxlint-disable-next-line no-process-env -- as the library does
  const listed = (kubeconfig || process.env['KUBECONFIG'] || '').split(delimiter);
  const named = listed.filter((file) => file !== '');
  if (named.length === 0) {
    // oxlint-disable-next-line no-process-env -- as the library does; os.homedir() throws where the user has no entry
    return [join(process.env['HOME'] ?? '', '.kube', 'config')].filter((file) => existsSync(file));
  }
  // As in kubectl, some may be missing.
  const present = named.filter((file) => existsSync(file));
  return present.length > 0 ? present : named;
}

/** Whether the entries of user and cluster read nothing from elsewhere and so cannot change. */
export function isStatic(config: KubeConfig): boolean {
  const user = config.getCurrentUser();
  const cluster = config.getCurrentCluster();
  return !(user?.exec || user?.authProvider || user?.certFile || user?.keyFile || cluster?.caFile);
}

/** Gets the current credentials from the library, which runs exec plugins, reads token files and refreshes OIDC. */
export async function readCredentials(config: KubeConfig): Promise<Credentials> {
  const options: RequestOptions = {};
  try {
    await config.applyToHTTPSOptions(options);
  } catch {
    // An exec plugin's error is its stderr, which may hold anything.
    throw notObtained();
  }
  const tls: Record<string, unknown> = {};
  for (const key of TLS_KEYS) {
    if (options[key] !== undefined) tls[key] = options[key];
  }
  const headers = { ...headersOf(options), ...impersonationOf(config.getCurrentUser()) };
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

/** How long reading credentials may take, unless the caller's requests may take another time. */
const READ_MS = 30_000;
/** The least time between two refreshes of rotating credentials; client-go's is 60 s for token files. */
const REFRESH_MS = 10_000;
/** The least time between two reads of everything, however many requests are refused. */
const RELOAD_MS = 1000;

/**
 * The credentials in use. Static ones are read once; rotating ones at most every 10 s, without delaying requests while the old ones
 * are valid. After a 401, everything is read again, including the kubeconfig.
 */
export class CredentialStore {
  readonly #source: KubeConfigSource;
  readonly #timeoutMs: number;
  #config: KubeConfig;
  #current: Credentials | undefined;
  #readAt = 0;
  #reloadedAt = -Infinity;
  #reading: Promise<Credentials> | undefined;

  /** `timeoutMs`: how long reading credentials may take, for instance for a plugin. Default 30 s. */
  constructor({
    timeoutMs = READ_MS,
    ...source
  }: KubeConfigSource & { readonly timeoutMs?: number | undefined }) {
    this.#timeoutMs = timeoutMs;
    this.#config = loadKubeConfig(source);
    const context = source.context ?? this.#config.getCurrentContext();
    this.#source = { ...source, context };
  }

  get config(): KubeConfig {
    return this.#config;
  }

  /** Returns the current credentials; a promise only on the first call. */
  get(): Credentials | Promise<Credentials> {
    if (this.#current === undefined) return this.#read();
    if (!isStatic(this.#config) && performance.now() - this.#readAt > REFRESH_MS) {
      // If the refresh failed, the request gets a 401, which reads again and reports the error.
      this.#read().catch(() => undefined);
    }
    return this.#current;
  }

  /** After a 401 for `refused`: returns other credentials, or undefined if there are none. */
  async replace(refused: Credentials): Promise<Credentials | undefined> {
    await this.#reading?.catch(() => undefined);
    if (this.#current?.digest !== refused.digest) return this.#current;
    if (performance.now() - this.#reloadedAt < RELOAD_MS) return undefined;
    this.#reloadedAt = performance.now();
    this.#config = this.#reloaded();
    const fresh = await this.#read();
    return fresh.digest === refused.digest ? undefined : fresh;
  }

  /** The same context of the same server: credentials of another one must not get there. */
  #reloaded(): KubeConfig {
    const config = loadKubeConfig(this.#source);
    const isSame =
      config.getCurrentContext() === this.#config.getCurrentContext() &&
      config.getCurrentCluster()?.server === this.#config.getCurrentCluster()?.server;
    if (!isSame) throw unusable('OtherServer');
    return config;
  }

  #read(): Promise<Credentials> {
    this.#readAt = performance.now();
    this.#reading ??= within(this.#timeoutMs, readCredentials(this.#config))
      .then((credentials) => (this.#current = credentials))
      .finally(() => (this.#reading = undefined));
    return this.#reading;
  }
}

/** Rejects if a plugin, say, takes longer. It is not ended. */
async function within(timeoutMs: number, reading: Promise<Credentials>): Promise<Credentials> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(notObtained()), timeoutMs);
  });
  return await Promise.race([reading, late]).finally(() => clearTimeout(timer));
}
