import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Injectable, type DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter, type NestExpressApplication } from '@nestjs/platform-express';
import { Readiness } from '@reroll/nest/health.module';
import { Heartbeats } from '@reroll/nest/heartbeats';
import type { Process } from '@reroll/nest/process';
import { ProcessModule } from '@reroll/nest/process.module';
import { LOG } from '@reroll/nest/tokens';
import { formatListenAddress } from '@reroll/shared/platform/http/listen-address';
import { closer, listen } from '@reroll/shared/platform/http/listening';
import type { Logger } from '@reroll/shared/platform/logging/logging';
import type { AdminMetrics } from '@reroll/shared/platform/metrics/admin';
import type { AdminOptions } from '@reroll/shared/platform/options/parsing/table';
import { giveBackMemorySoon } from '@reroll/shared/platform/process/memory';
import { Lifecycle } from '@reroll/shared/platform/process/shutdown';
import type { NextFunction, Request, Response } from 'express';
import type { Authenticator } from './auth/caller.ts';
import { logAccess } from './http/access-log.ts';
import { createApiServer } from './http/api-server.ts';
import { ClientAddresses } from './http/limits/client-address.ts';
import { API, methodsOf } from './http/methods.ts';
import { ProblemError } from './http/problem-error.ts';
import { ProblemFilter } from './http/problem.filter.ts';
import { addressLimit } from './http/limits/rate-limits.ts';
import { refuseUnlessLeader, relayToLeader, type Leader } from './http/leader-relay.ts';
import { refuseCrossSite } from './http/refuse-cross-site.ts';
import { begin, pathOf } from './http/request-context.ts';
import { securityHeaders } from './http/security-headers.ts';
import { openApiDocument } from './openapi.ts';
import { ADMIN_METRICS, ADMIN_OPTIONS, AUTHENTICATOR } from './tokens.ts';

const OPTION = { flag: '--api-addr', env: 'REROLL_API_ADDR' };

/** The dashboard and the pages of the documentation, next to the bundle. */
const PUBLIC = join(import.meta.dirname, 'public');

/** Whether the API is served, as `/ready` reports. */
@Injectable()
export class ApiState {
  isServed = false;

  constructor(readiness: Readiness, lifecycle: Lifecycle) {
    readiness.add('api', () =>
      this.isServed && !lifecycle.signal.aborted ? undefined : 'the API is not served',
    );
  }
}

/**
 * Starts a process that is an admin, and serves the API until shutdown. With `leaderOf` only the leader answers: others hand
 * their callers on to it. Rejects with a `ListenError` or a `SettingsError`.
 */
export async function serveApi(
  process: Process,
  roles: readonly DynamicModule[],
  leaderOf?: (app: NestExpressApplication) => Leader,
): Promise<void> {
  const { log, lifecycle } = process;
  const root = ProcessModule.of(process, roles);
  const app = await NestFactory.create<NestExpressApplication>(root, adapter(), {
    logger: false,
    bodyParser: false,
    abortOnError: false,
  });
  app.get(Heartbeats).start(() => ({ app: 'admin' }));
  const options = app.get<AdminOptions>(ADMIN_OPTIONS);
  const leader = leaderOf?.(app);
  await configure(app, options, leader);
  const server = createApiServer(app.getHttpAdapter().getInstance(), { options, log, lifecycle });
  if (leader) relayToLeader(server, { leader, signal: lifecycle.signal });
  const address = await listen(server, options.apiAddr, OPTION);
  server.on('error', (error) => log.failure('the API server failed', error));
  const close = closer(server);
  lifecycle.onStop('api server', 5_000, () => close(4_000));
  log.info('serving the API', { address: formatListenAddress(address) });
  giveBackMemorySoon();
  app.get(ApiState).isServed = true;
}

async function configure(
  app: NestExpressApplication,
  options: AdminOptions,
  leader: Leader | undefined,
): Promise<void> {
  const metrics = app.get<AdminMetrics>(ADMIN_METRICS);
  const log = app.get<Logger>(LOG);
  const authenticator = app.get<Authenticator>(AUTHENTICATOR);
  const addresses = new ClientAddresses(options.apiTrustedProxies);
  app.use((request: Request, response: Response, next: NextFunction) => {
    begin(request, { id: randomUUID(), startedAt: performance.now(), address: addresses.of(request) });
    logAccess(request, response, { log, metrics });
    next();
  });
  if (leader) app.use(refuseUnlessLeader(leader));
  app.use(securityHeaders(options));
  app.use(addressLimit({ options, metrics, authenticator }));
  app.use(refuseCrossSite(metrics));
  app.use(refuseOtherPaths);
  const document = JSON.stringify(openApiDocument());
  app.use('/api/openapi.json', (request: Request, response: Response, next: NextFunction) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return next();
    response.type('json').send(document);
  });
  servePages(app);
  app.setGlobalPrefix(API);
  await app.init();
  answerTheRest(app);
}

/**
 * Refuses other spellings of a path, because rights are granted for one form: Express would accept other cases, and a
 * slash at the end.
 */
function refuseOtherPaths(request: Request, _response: Response, next: NextFunction): void {
  const path = pathOf(request);
  const isOfApi = path.toLowerCase().startsWith(`${API}/`);
  next(isOfApi && methodsOf(path).length === 0 ? new ProblemError('NotFound') : undefined);
}

/** Disables nested queries. */
function adapter(): ExpressAdapter {
  const express = new ExpressAdapter();
  express.set('query parser', 'simple');
  express.set('etag', false);
  express.disable('x-powered-by');
  return express;
}

/** Answers requests outside Nest's prefix. */
function answerTheRest(app: NestExpressApplication): void {
  const filter = app.get(ProblemFilter);
  app.use((request: Request, response: Response) => {
    filter.answer(new ProblemError('NotFound'), request, response);
  });
  // Express recognizes an error handler by its four parameters.
  // oxlint-disable-next-line max-params
  app.use((error: unknown, request: Request, response: Response, _next: NextFunction) => {
    filter.answer(error, request, response);
  });
}

/** Serves the dashboard and the API's documentation. They hold no data and ask for a token themselves. */
function servePages(app: NestExpressApplication): void {
  if (!existsSync(PUBLIC)) return;
  app.useStaticAssets(PUBLIC, {
    extensions: ['html'],
    redirect: false,
    setHeaders: (response, path) => response.setHeader('Cache-Control', cacheControl(path)),
  });
}

/** A file with a hash in its name never changes. Others have an ETag, so that a new version appears at the next request. */
function cacheControl(path: string): string {
  return /-[0-9A-Z]{8}\.\w+$/.test(path) ? 'public, max-age=31536000, immutable' : 'no-cache';
}
