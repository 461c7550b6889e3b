/**
 * The server for probes and Prometheus: GET and HEAD of `/metrics`, `/live`, `/ready` and `/healthz`. It has no
 * authentication, so it shows only numbers, names of checks and our own words.
 */
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Registry } from 'prom-client';
import { errorFields } from '../logging/error-fields.ts';
import { runHealthChecks } from './health-checks.ts';
import type { HealthChecks } from './health-checks.ts';
import type { ListenAddress } from './listen-address.ts';
import { closer, listen } from './listening.ts';
import type { Logger } from '../logging/logging.ts';

export interface HttpServerSettings {
  readonly address: ListenAddress;
  readonly registry: Pick<Registry, 'metrics' | 'contentType'>;
  /** `/ready` is 200 while all checks pass, else 503. */
  readonly ready: HealthChecks;
  /** `/live` and `/healthz` are 200 while all checks pass, else 500. Without checks: while the process responds. */
  readonly live?: HealthChecks;
  readonly log: Logger;
}

export interface HttpServer {
  /** Where it listens, with the assigned port for port 0. */
  readonly address: ListenAddress;
  /**
   * Closes the server: it takes no new requests, lets those under way finish for `deadline` milliseconds, then drops
   * every connection. Resolves when all are closed; may be called again.
   */
  close(deadline: number): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

const TEXT = 'text/plain; charset=utf-8';
const JSON_TYPE = 'application/json; charset=utf-8';

function plain(status: number, body: string): Answer {
  return { status, type: TEXT, body };
}

type Route = (settings: HttpServerSettings) => Promise<Answer>;

const liveness: Route = async ({ live = {} }) => {
  const { ok, checks } = await runHealthChecks(live);
  return ok ? plain(200, 'alive') : { status: 500, type: JSON_TYPE, body: JSON.stringify(checks) };
};

const readiness: Route = async ({ ready }) => {
  const { ok, checks } = await runHealthChecks(ready);
  return { status: ok ? 200 : 503, type: JSON_TYPE, body: JSON.stringify(checks) };
};

const metrics: Route = async ({ registry }) => ({
  status: 200,
  type: registry.contentType,
  body: await registry.metrics(),
});

const ROUTES: ReadonlyMap<string, Route> = new Map([
  ['/metrics', metrics],
  ['/live', liveness],
  ['/healthz', liveness],
  ['/ready', readiness],
]);

async function answerTo(request: IncomingMessage, settings: HttpServerSettings): Promise<Answer> {
  const [path = ''] = (request.url ?? '').split('?');
  const route = ROUTES.get(path);
  if (route === undefined) return plain(404, 'not found');
  if (request.method !== 'GET' && request.method !== 'HEAD') return plain(405, 'method not allowed');
  try {
    return await route(settings);
  } catch (error) {
    settings.log.error('Could not answer a request', { path, ...errorFields(error) });
    return plain(500, 'failed');
  }
}

/** While the server closes, each response ends its connection. */
function send(response: ServerResponse, { status, type, body }: Answer, closing: boolean): void {
  response.writeHead(status, {
    'Content-Type': type,
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...(status === 405 ? { Allow: 'GET, HEAD' } : {}),
    ...(closing ? { Connection: 'close' } : {}),
  });
  response.end(body); // of a HEAD, Node sends the headers only
}

const OPTION = { flag: '--metrics-addr', env: 'REROLL_METRICS_ADDR' };

/** Resolves once the server listens; rejects with a `ListenError` if it cannot. */
export async function startHttpServer(settings: HttpServerSettings): Promise<HttpServer> {
  const server = createServer((request, response) => {
    void answerTo(request, settings).then((answer) => send(response, answer, !server.listening));
  });
  const address = await listen(server, settings.address, OPTION);
  server.on('error', (error) => settings.log.failure('The HTTP server failed', error));
  return { address, close: closer(server) };
}
