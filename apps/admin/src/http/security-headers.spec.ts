import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Request, Response } from 'express';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { securityHeaders } from './security-headers.ts';

let server: Server;

beforeAll(async () => {
  const setHeaders = securityHeaders({ apiTlsCertFile: undefined });
  server = createServer((request, response) => {
    const asOfExpress = Object.assign(request, { originalUrl: request.url }) as Request;
    void setHeaders(asOfExpress, response as Response, () => response.end('{}'));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterAll(async () => {
  server.close();
  await once(server, 'close');
});

async function cacheControlOf(path: string, method = 'GET'): Promise<string | null> {
  const { port } = server.address() as AddressInfo;
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers: { connection: 'close' } });
  return answer.headers.get('cache-control');
}

it('no cache keeps what the API answers one caller', async () => {
  for (const method of ['GET', 'HEAD', 'POST'])
    expect(await cacheControlOf('/api/v1/workloads?namespace=shop', method), method).toBe('no-store');
});
