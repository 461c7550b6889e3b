import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Agent, request as send } from 'node:https';
import type { AddressInfo } from 'node:net';
import { cleanUp } from '../../support/cleanup.ts';

/** What becomes of one request. */
export interface Fate {
  /** Default true. If false the API server never hears of it. */
  readonly arrives?: boolean;
  /** In place of the API server's answer; `reset`: none, and the connection is reset. */
  readonly answer?: 'reset' | { readonly status: number; readonly retryAfter?: number };
}

export const PASSED: Fate = {};

/**
 * A proxy before one or several API servers that knows requests: it can refuse them, lose them, or have them done and lose the
 * answer. Plain HTTP on its own side. It ends with the test or the file.
 */
export class ApiProxy {
  /** Port of the API server that gets this request. */
  route: (request: IncomingMessage) => number;
  fateOf: (request: IncomingMessage) => Fate = () => PASSED;
  /** Requests whose fate was another than to pass. */
  disturbed = 0;
  readonly #server: Server;
  // Whether the certificate is the right one is not the subject.
  readonly #agent = new Agent({ keepAlive: true, rejectUnauthorized: false });

  private constructor(port: number) {
    this.route = () => port;
    this.#server = createServer((request, answer) => this.#handle(request, answer));
    // undici would send on a connection that is being closed for idleness.
    this.#server.keepAliveTimeout = 0;
    this.#server.requestTimeout = 0;
  }

  static async start(apiServerPort: number): Promise<ApiProxy> {
    const proxy = new ApiProxy(apiServerPort);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    cleanUp(() => proxy.#stop());
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Ends every connection, watches too. */
  cut(): void {
    this.#server.closeAllConnections();
  }

  async #stop(): Promise<void> {
    this.#server.close();
    this.cut();
    await once(this.#server, 'close');
    this.#agent.destroy();
  }

  #handle(request: IncomingMessage, answer: ServerResponse): void {
    const fate = this.fateOf(request);
    if (fate !== PASSED) this.disturbed += 1;
    if (fate.arrives === false) {
      request.resume().once('end', () => reply(answer, fate));
      return;
    }
    const { method, url: path, headers } = request;
    const to = { host: '127.0.0.1', port: this.route(request), method, path, headers, agent: this.#agent };
    const upstream = send(to, (given) => {
      if (fate.answer !== undefined) {
        given.resume().once('end', () => reply(answer, fate));
        return;
      }
      answer.writeHead(given.statusCode ?? 502, given.headers);
      answer.flushHeaders();
      given.on('error', () => answer.destroy()).pipe(answer);
    });
    upstream.on('error', () => answer.destroy());
    answer.on('close', () => upstream.destroy());
    request.on('error', () => upstream.destroy()).pipe(upstream);
  }
}

function reply(answer: ServerResponse, { answer: given }: Fate): void {
  if (given === undefined || given === 'reset') {
    answer.socket?.resetAndDestroy();
    return;
  }
  const { status, retryAfter } = given;
  const headers = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) };
  const body = JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code: status });
  answer.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
}

export function isWatch({ url = '' }: IncomingMessage): boolean {
  return url.includes('watch=1');
}

export function isWrite({ method }: IncomingMessage): boolean {
  return method !== 'GET';
}
