import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter, type NestExpressApplication } from '@nestjs/platform-express';
import { formatListenAddress } from '@reroll/shared/platform/listen-address';
import { closer, listen } from '@reroll/shared/platform/listening';
import type { NextFunction, Request, Response } from 'express';
import { ApiModule, type ApiContext } from './api.module.ts';
import { logAccess } from './http/access-log.ts';
import { API } from './http/methods.ts';
import { begin } from './http/request-context.ts';
import { openApiDocument } from './openapi.ts';

const OPTION = { flag: '--api-addr', env: 'REROLL_API_ADDR' };

/** Beside the bundle: the dashboard and the pages of the documentation. */
const PUBLIC = join(import.meta.dirname, 'public');

/** Serves the API until the end. Rejects with a `ListenError`. */
export async function serveApi(context: ApiContext): Promise<void> {
  const { options, log, lifecycle } = context;
  const app = await application(context);
  const server = createServer(app.getHttpAdapter().getInstance());
  const address = await listen(server, options.apiAddr, OPTION);
  server.on('error', (error) => log.failure('the server of the API has an error', error));
  const close = closer(server);
  lifecycle.onStop('api server', 5_000, () => close(4_000));
  log.info('serving the API', { address: formatListenAddress(address) });
}

async function application(context: ApiContext): Promise<NestExpressApplication> {
  const app = await NestFactory.create<NestExpressApplication>(ApiModule.of(context), new ExpressAdapter(), {
    logger: false,
    bodyParser: false,
    abortOnError: false,
  });
  app.set('case sensitive routing', true);
  app.set('strict routing', true);
  app.set('query parser', 'simple');
  app.set('etag', false);
  app.disable('x-powered-by');
  app.use((request: Request, response: Response, next: NextFunction) => {
    begin(request, { id: randomUUID(), startedAt: performance.now() });
    logAccess(request, response, context);
    next();
  });
  const document = JSON.stringify(openApiDocument());
  app.use('/api/openapi.json', (_request: Request, response: Response) => {
    response.type('json').send(document);
  });
  app.setGlobalPrefix(API);
  if (existsSync(PUBLIC)) app.useStaticAssets(PUBLIC);
  return await app.init();
}
