import { jsonOf } from '@reroll/core/json';
import type { Dispatcher } from 'undici';
import { CredentialStore, tokenConfig, type Credentials, type KubeConfigSource } from './credentials.ts';
import { abortedError, apiError, badResponse, networkError, timeoutError, KubeError } from './errors.ts';
import { requestInfo, type RequestInfo } from './request-info.ts';
import { exchange, openPool, type Endpoint, type ExchangeResult } from './transport.ts';

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export const JSON_PATCH = 'application/json-patch+json';
export const MERGE_PATCH = 'application/merge-patch+json';

/** Asks for objects without spec, status and data. */
export const METADATA_ONLY = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
export const METADATA_ONLY_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

/** One finished request, for metrics. */
export interface RequestReport extends RequestInfo {
  /** HTTP status; 0 without an answer. */
  readonly status: number;
  readonly durationMs: number;
}

export interface KubeClientOptions extends KubeConfigSource {
  /** e.g. `reroll-worker/1.2.3`. */
  readonly userAgent: string;
  /** The most requests on the wire at a time; others wait. Default 32. Watches do not count. */
  readonly connections?: number | undefined;
  /** Default deadline of a request. Default 30 s. */
  readonly timeoutMs?: number | undefined;
  readonly onRequest?: ((report: RequestReport) => void) | undefined;
  /** Opens the connections. Default: a pool of real ones; a simulation gives others. */
  readonly openPool?: ((endpoint: Endpoint, connections: number) => Dispatcher) | undefined;
}

export interface RequestOptions {
  readonly query?: Query | undefined;
  /** Default `application/json`. */
  readonly contentType?: string | undefined;
  /** The requested form of the answer, e.g. `METADATA_ONLY`. Default `application/json`. */
  readonly accept?: string | undefined;
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Most bytes of the answer; a larger one is an error with the reason `TooLarge`. Default 64 MiB. */
  readonly maxBytes?: number | undefined;
}

export interface KubeRequest extends RequestOptions {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Absolute and percent-encoded, without a query: see `collectionPath` and `objectPath`. */
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: unknown;
}

export interface KubeResponse<T> {
  readonly status: number;
  readonly body: T;
  /** The server's clock at its answer (the `Date` header), in milliseconds with a resolution of seconds. */
  readonly date: number | undefined;
}

export interface StreamOptions {
  readonly query?: Query | undefined;
  /** Ends the stream and closes its connection. */
  readonly signal: AbortSignal;
  /** Deadline for the start of the answer. Default 30 s. Later silence is for the caller to detect. */
  readonly timeoutMs?: number | undefined;
}

/** The bytes of a watch as they arrive. Read it to its end, or end it by the signal. */
export type KubeStream = AsyncIterable<Buffer>;

/** The most bytes kept of an error answer to a stream. */
const MAX_ERROR_BYTES = 64 * 1024;
/** By which two clocks may drift apart: NTP slews one by at most 500 ppm. */
const DRIFT = 0.000_5;

function withQuery(path: string, query: Query | undefined): string {
  if (query === undefined) return path;
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) search.append(name, String(value));
  }
  const text = search.toString();
  return text === '' ? path : `${path}?${text}`;
}

function headerOf(headers: ExchangeResult['headers'], name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
}

/**
 * A client of one API server: keep-alive HTTP/1.1 connections, JSON in both directions. Every failure is a `KubeError` without text
 * from the server. The client retries only once after a 401, if other credentials are available; the caller decides about other
 * retries (`error.retryable`).
 */
export class KubeClient {
  readonly #options: KubeClientOptions;
  readonly #store: CredentialStore;
  readonly #origin: string;
  readonly #basePath: string;
  readonly #closing = new AbortController();
  readonly #openPool: typeof openPool;
  #pools: { digest: string; short: Dispatcher; long: Dispatcher } | undefined;
  /** By how much the API server's clock was ahead of `performance.now()` at most (`by`), and when, in milliseconds. */
  #ahead: { readonly by: number; readonly at: number } | undefined;

  /** Throws a `KubeError` KUBE_CREDENTIALS if the kubeconfig is unusable. Connects on first use. */
  constructor(options: KubeClientOptions) {
    this.#options = options;
    this.#store = new CredentialStore(options);
    this.#openPool = options.openPool ?? openPool;
    const url = new URL(this.#store.config.getCurrentCluster()?.server ?? '');
    this.#origin = url.origin;
    this.#basePath = url.pathname.replace(/\/$/, '');
  }

  /** `https://host:port` of the API server. */
  get server(): string {
    return this.#origin;
  }

  /**
   * The API server's time in Unix milliseconds, by the `Date` of its answers. Never behind it, and ahead by a second and the time that the
   * quickest recent answer took at most, so that a slow one does no harm. Before the first answer, this process's own time.
   */
  apiTime(): number {
    const now = performance.now();
    return this.#ahead === undefined ? Date.now() : now + aheadAt(this.#ahead, now);
  }

  /** The context's namespace (in a pod, the pod's own), if it names one. */
  get namespace(): string | undefined {
    const { config } = this.#store;
    return config.getContextObject(config.getCurrentContext())?.namespace;
  }

  /**
   * A client of the same API server as the owner of this token. It has nothing of this client's credentials: the API server would heed
   * a client certificate before the token. Close it after use.
   */
  as(token: string): KubeClient {
    const { config } = this.#store;
    return new KubeClient({ ...this.#options, load: () => tokenConfig(config, token) });
  }

  get<T>(path: string, options: RequestOptions = {}): Promise<KubeResponse<T>> {
    return this.request<T>({ ...options, method: 'GET', path });
  }

  /** `contentType` defaults to a JSON Patch. */
  patch<T>(path: string, body: unknown, options: RequestOptions = {}): Promise<KubeResponse<T>> {
    return this.request<T>({ contentType: JSON_PATCH, ...options, method: 'PATCH', path, body });
  }

  post<T>(path: string, body: unknown, options: RequestOptions = {}): Promise<KubeResponse<T>> {
    return this.request<T>({ ...options, method: 'POST', path, body });
  }

  put<T>(path: string, body: unknown, options: RequestOptions = {}): Promise<KubeResponse<T>> {
    return this.request<T>({ ...options, method: 'PUT', path, body });
  }

  /** `T` is the caller's claim about the JSON and is not checked. */
  async request<T>(request: KubeRequest): Promise<KubeResponse<T>> {
    const started = performance.now();
    const label = `${request.method} ${request.path}`;
    try {
      const result = await this.#authenticated(request, label);
      const body = answerOf(result, label) as T;
      this.#report(request, started, result.status);
      const date = dateOf(result);
      if (date !== undefined) this.#learnTime(date, started);
      return { status: result.status, body, date };
    } catch (error) {
      const kubeError = networkError(label, error, this.#origin);
      this.#report(request, started, kubeError.status);
      throw kubeError;
    }
  }

  /** Opens a watch on its own connection. Rejects with a `KubeError` unless the status is 200. */
  async stream(path: string, options: StreamOptions): Promise<KubeStream> {
    const started = performance.now();
    const label = `WATCH ${path}`;
    const given = this.#store.get();
    const credentials = given instanceof Promise ? await given : given;
    try {
      const body = await this.#openStream({ path, label, credentials }, options);
      this.#reportWatch(path, started, 200);
      return body;
    } catch (error) {
      const kubeError = networkError(label, error, this.#origin);
      if (kubeError.status === 401) await this.#store.replace(credentials).catch(() => undefined);
      this.#reportWatch(path, started, kubeError.status);
      throw kubeError;
    }
  }

  /** Ends everything at once, including streams. */
  async close(): Promise<void> {
    this.#closing.abort();
    const pools = this.#pools;
    this.#pools = undefined;
    await Promise.all([pools?.short.destroy(), pools?.long.destroy()]);
  }

  async #authenticated(request: KubeRequest, label: string): Promise<ExchangeResult> {
    const given = this.#store.get();
    const credentials = given instanceof Promise ? await given : given;
    const result = await this.#send({ request, label, credentials });
    if (result.status !== 401) return result;
    const others = await this.#store.replace(credentials);
    return others === undefined ? result : this.#send({ request, label, credentials: others });
  }

  #send(call: { request: KubeRequest; label: string; credentials: Credentials }): Promise<ExchangeResult> {
    const { request, label, credentials } = call;
    const headers = this.#headers(credentials);
    if (request.accept !== undefined) headers.accept = request.accept;
    if (request.body !== undefined) headers['content-type'] = request.contentType ?? 'application/json';
    return exchange(this.#poolsFor(credentials).short, {
      origin: this.#origin,
      method: request.method,
      path: this.#basePath + withQuery(request.path, request.query),
      headers,
      body: bodyOf(request),
      timeoutMs: request.timeoutMs ?? this.#options.timeoutMs ?? 30_000,
      signal: request.signal,
      maxBytes: request.maxBytes,
      label,
    });
  }

  async #openStream(
    call: { path: string; label: string; credentials: Credentials },
    options: StreamOptions,
  ): Promise<KubeStream> {
    const { label, credentials } = call;
    const begin = new AbortController();
    const deadline = setTimeout(
      () => begin.abort(timeoutError(label, this.#origin)),
      options.timeoutMs ?? 30_000,
    );
    const cancel = (): void => begin.abort(abortedError(label));
    options.signal.addEventListener('abort', cancel, { once: true });
    if (options.signal.aborted) cancel();
    try {
      const answer = await this.#poolsFor(credentials).long.request({
        origin: this.#origin,
        method: 'GET',
        path: this.#basePath + withQuery(call.path, options.query),
        headers: this.#headers(credentials),
        signal: begin.signal,
      });
      if (answer.statusCode === 200) return readStream(answer.body, { signal: options.signal, cancel });
      throw await streamRefusal(answer, label);
    } catch (error) {
      options.signal.removeEventListener('abort', cancel);
      throw begin.signal.reason instanceof KubeError ? begin.signal.reason : error;
    } finally {
      clearTimeout(deadline);
    }
  }

  #headers(credentials: Credentials): Record<string, string | string[]> {
    return { accept: 'application/json', 'user-agent': this.#options.userAgent, ...credentials.headers };
  }

  /** Returns the pools for these credentials. Pools for other credentials finish their requests and close. */
  #poolsFor(credentials: Credentials): { short: Dispatcher; long: Dispatcher } {
    const present = this.#pools;
    if (present?.digest === credentials.tlsDigest) return present;
    if (this.#closing.signal.aborted) throw abortedError('client');
    const endpoint: Endpoint = {
      origin: this.#origin,
      proxyUrl: this.#store.config.getCurrentCluster()?.proxyUrl,
      tls: credentials.tls,
    };
    const next = {
      digest: credentials.tlsDigest,
      short: this.#openPool(endpoint, this.#options.connections ?? 32),
      long: this.#openPool(endpoint, 0),
    };
    this.#pools = next;
    for (const old of [present?.short, present?.long]) old?.close().catch(() => undefined);
    return next;
  }

  /** Each answer bounds how far the API server is ahead. It is further ahead than the least bound only once a clock has been set. */
  #learnTime(date: number, started: number): void {
    const now = performance.now();
    const [atLeast, atMost] = [date - now, date + 1_000 - started];
    const known = this.#ahead ? aheadAt(this.#ahead, now) : Infinity;
    if (atMost < known || atLeast > known) this.#ahead = { by: atMost, at: now };
  }

  #report(request: KubeRequest, started: number, status: number): void {
    const { onRequest } = this.#options;
    if (onRequest === undefined) return;
    const info = requestInfo(request.method, request.path);
    onRequest({ ...info, status, durationMs: performance.now() - started });
  }

  #reportWatch(path: string, started: number, status: number): void {
    const { resource } = requestInfo('GET', path);
    this.#options.onRequest?.({ verb: 'watch', resource, status, durationMs: performance.now() - started });
  }
}

function answerOf(result: ExchangeResult, label: string): unknown {
  if (result.status >= 300) {
    throw apiError({
      request: label,
      status: result.status,
      // A proxy's page, say, is not JSON: the status alone tells.
      body: jsonOf(result.text),
      retryAfter: headerOf(result.headers, 'retry-after'),
    });
  }
  try {
    return JSON.parse(result.text);
  } catch {
    // V8's message quotes the text.
    throw badResponse(label, 'NotJson');
  }
}

function aheadAt({ by, at }: { readonly by: number; readonly at: number }, now: number): number {
  return by + (now - at) * DRIFT;
}

function dateOf(result: ExchangeResult): number | undefined {
  const date = Date.parse(headerOf(result.headers, 'date') ?? '');
  return Number.isNaN(date) ? undefined : date;
}

/**
 * The API server compares the value of a `test` byte by byte with its own JSON, in which Go escapes these characters. They can only be
 * in strings.
 */
function bodyOf({ body, contentType }: KubeRequest): string | undefined {
  if (body === undefined) return undefined;
  const text = JSON.stringify(body);
  return contentType === JSON_PATCH ? text.replace(/[<>&\u2028\u2029]/gu, escaped) : text;
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

async function streamRefusal(answer: Dispatcher.ResponseData, label: string): Promise<KubeError> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer.body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_ERROR_BYTES) break;
    chunks.push(chunk);
  }
  return apiError({
    request: label,
    status: answer.statusCode,
    // A proxy's page, say, is not JSON: the status alone tells.
    body: jsonOf(Buffer.concat(chunks).toString()),
    retryAfter: headerOf(answer.headers, 'retry-after'),
  });
}

/** Passes the chunks on. However reading ends, releases the connection and the caller's signal. */
async function* readStream(
  body: AsyncIterable<Buffer> & { destroy(): unknown },
  end: { signal: AbortSignal; cancel: () => void },
): AsyncGenerator<Buffer, void, undefined> {
  try {
    yield* body;
  } finally {
    end.signal.removeEventListener('abort', end.cancel);
    body.destroy();
  }
}
