import { Pool, ProxyAgent, type Dispatcher } from 'undici';
import { abortedError, badResponse, networkError, timeoutError, type KubeError } from './errors.ts';
import type { TlsMaterial } from './credentials.ts';
import type { RequestHeaders } from './kubeconfig-files.ts';

export interface Endpoint {
  /** `https://host:port`. */
  readonly origin: string;
  readonly proxyUrl?: string | undefined;
  readonly tls: TlsMaterial;
}

/** Shorter than the API server's idle limit (90 s), so that the client closes first. */
const IDLE_MS = 60_000;
const CONNECT_TIMEOUT_MS = 10_000;
/** As in client-go: below the idle limits of load balancers, which drop connections silently. */
const TCP_KEEPALIVE_MS = 30_000;

/**
 * Opens a pool of at most `connections` HTTP/1.1 connections (0: no limit). HTTP/1.1, because a pool is faster here than one
 * multiplexed connection, and because a watch has its own socket that can be cut without affecting others.
 */
export function openPool(
  endpoint: Endpoint,
  connections: number,
  connectTimeoutMs = CONNECT_TIMEOUT_MS,
): Dispatcher {
  const options = {
    allowH2: false,
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: IDLE_MS,
    ...(connections > 0 ? { connections } : {}),
  };
  if (endpoint.proxyUrl !== undefined) {
    return new ProxyAgent({
      ...options,
      uri: endpoint.proxyUrl,
      connectTimeout: connectTimeoutMs,
      // That covers TCP and TLS; this covers the proxy's answer to CONNECT, for which undici waits for 5 minutes.
      clientFactory: (origin, own) => new Pool(origin, { ...own, headersTimeout: connectTimeoutMs }),
      requestTls: { ...endpoint.tls, keepAlive: true, keepAliveInitialDelay: TCP_KEEPALIVE_MS },
    });
  }
  return new Pool(endpoint.origin, {
    ...options,
    connect: {
      ...endpoint.tls,
      keepAlive: true,
      keepAliveInitialDelay: TCP_KEEPALIVE_MS,
      timeout: connectTimeoutMs,
    },
  });
}

export interface ExchangeRequest {
  readonly origin: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly headers: RequestHeaders;
  readonly body: string | undefined;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  /** Default 64 MiB. */
  readonly maxBytes?: number | undefined;
  /** For error messages: method and path without the query. */
  readonly label: string;
}

export interface ExchangeResult {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/**
 * Sends one request and collects its answer, as a handler of undici's `dispatch`: half the work of `request()`, which builds a
 * stream for the body. The deadline covers everything, including the wait for a free connection.
 */
export function exchange(pool: Dispatcher, request: ExchangeRequest): Promise<ExchangeResult> {
  return new Promise((resolve, reject) => {
    const handler = new ExchangeHandler(request, { resolve, reject });
    try {
      pool.dispatch(
        {
          origin: request.origin,
          method: request.method,
          path: request.path,
          headers: request.headers,
          body: request.body ?? null,
        },
        handler,
      );
    } catch (error) {
      handler.fail(networkError(request.label, error, request.origin));
    }
  });
}

/** Default limit for an answer that is not a stream. Holding, decoding and parsing it takes several times this memory. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

interface Settle {
  readonly resolve: (result: ExchangeResult) => void;
  readonly reject: (error: KubeError) => void;
}

class ExchangeHandler implements Dispatcher.DispatchHandler {
  readonly #request: ExchangeRequest;
  readonly #settle: Settle;
  readonly #deadline: NodeJS.Timeout;
  readonly #onAbort: (() => void) | undefined;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #headers: ExchangeResult['headers'] = {};
  /** Set once the promise is settled; later events are ignored. */
  #settled = false;

  constructor(request: ExchangeRequest, settle: Settle) {
    this.#request = request;
    this.#settle = settle;
    this.#deadline = setTimeout(
      () => this.fail(timeoutError(request.label, request.origin)),
      request.timeoutMs,
    );
    if (request.signal === undefined) return;
    this.#onAbort = () => this.fail(abortedError(request.label));
    if (request.signal.aborted) this.#onAbort();
    else request.signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#settled) controller.abort(abortedError(this.#request.label));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: ExchangeResult['headers'],
  ): void {
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > (this.#request.maxBytes ?? MAX_BODY_BYTES))
      this.fail(badResponse(this.#request.label, 'TooLarge'));
    else if (!this.#settled) this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    if (!this.#finish()) return;
    const [first] = this.#chunks;
    const text =
      this.#chunks.length === 1 && first ? first.toString() : Buffer.concat(this.#chunks).toString();
    this.#settle.resolve({ status: this.#status, headers: this.#headers, text });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#finish()) this.#settle.reject(networkError(this.#request.label, error, this.#request.origin));
  }

  /** Rejects with the error and takes the request off its connection. */
  fail(error: KubeError): void {
    if (!this.#finish()) return;
    this.#settle.reject(error);
    this.#controller?.abort(error);
  }

  #finish(): boolean {
    if (this.#settled) return false;
    this.#settled = true;
    clearTimeout(this.#deadline);
    if (this.#onAbort) this.#request.signal?.removeEventListener('abort', this.#onAbort);
    return true;
  }
}
