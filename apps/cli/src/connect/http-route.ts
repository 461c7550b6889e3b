import { networkError } from '@reroll/kube/client/errors';
import {
  exchange,
  openPool,
  type Endpoint,
  type ExchangeRequest,
  type ExchangeResult,
} from '@reroll/kube/client/transport';
import type { RequestHeaders } from '@reroll/kube/client/kubeconfig-files';
import { USER_AGENT } from './cluster-access.ts';

export interface RouteRequest {
  readonly method: ExchangeRequest['method'];
  /** The path from the admin's root, with the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface RouteStream {
  readonly status: number;
  readonly contentType: string;
  readonly body: AsyncIterable<Buffer>;
}

export interface RouteOptions {
  /** Its name in errors, e.g. `the API server's proxy to reroll/reroll-admin`. */
  readonly name: string;
  readonly endpoint: Endpoint;
  /** The prefix of the admin's paths. */
  readonly basePath: string;
  /** Returns credentials; called before each request. */
  readonly headers: () => Promise<RequestHeaders>;
  readonly onClose?: () => Promise<void>;
}

export class HttpRoute {
  readonly name: string;
  readonly #options: RouteOptions;
  readonly #pool: ReturnType<typeof openPool>;

  constructor(options: RouteOptions) {
    this.name = options.name;
    this.#options = options;
    this.#pool = openPool(options.endpoint, 0);
  }

  /** @throws a `KubeError` if there is no response */
  async send(request: RouteRequest): Promise<ExchangeResult> {
    return await exchange(this.#pool, {
      origin: this.#options.endpoint.origin,
      method: request.method,
      path: this.#options.basePath + request.path,
      headers: await this.#headers(request.headers),
      body: request.body,
      timeoutMs: request.timeoutMs,
      signal: request.signal,
      label: this.name,
    });
  }

  /** A response whose body is read as it comes, until the signal fires. @throws a `KubeError` if there is none */
  async stream(request: Omit<RouteRequest, 'method' | 'body'>): Promise<RouteStream> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), request.timeoutMs);
    try {
      const answer = await this.#pool.request({
        origin: this.#options.endpoint.origin,
        method: 'GET',
        path: this.#options.basePath + request.path,
        headers: await this.#headers(request.headers),
        signal: AbortSignal.any([late.signal, request.signal]),
      });
      const contentType = answer.headers['content-type'];
      return {
        status: answer.statusCode,
        contentType: typeof contentType === 'string' ? contentType : '',
        body: answer.body,
      };
    } catch (error) {
      throw networkError(this.name, error);
    } finally {
      clearTimeout(timer);
    }
  }

  async close(): Promise<void> {
    await this.#pool.destroy();
    await this.#options.onClose?.();
  }

  async #headers(own: Readonly<Record<string, string>>): Promise<Record<string, string | string[]>> {
    return {
      accept: 'application/json',
      'user-agent': USER_AGENT,
      ...(await this.#options.headers()),
      ...own,
    };
  }
}
