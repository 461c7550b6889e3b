import { createServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import type { Duplex } from 'node:stream';
import { KubeConfig } from '@kubernetes/client-node';
import { describe, expect, onTestFinished, test } from 'vitest';
import { KubeClient } from './connection.ts';
import { KubeError } from './errors.ts';
import { exchange, openPool } from './transport.ts';

async function portOf(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** The URL of a proxy that does `answer` with each request for a tunnel. */
async function proxy(answer: (socket: Duplex) => void): Promise<string> {
  const sockets: Duplex[] = [];
  const server = createServer().on('connect', (_request, socket: Duplex) => {
    sockets.push(socket.on('error', () => undefined));
    answer(socket);
  });
  onTestFinished(() => sockets.forEach((socket) => socket.destroy()));
  return `http://127.0.0.1:${await portOf(server)}`;
}

/** What comes of a request through the proxy, whose caller would wait for a minute. */
async function failureThrough(proxyUrl: string, connectTimeoutMs?: number): Promise<unknown> {
  const origin = 'https://api.test:6443';
  const pool = openPool({ origin, proxyUrl, tls: {} }, 1, connectTimeoutMs);
  onTestFinished(() => pool.destroy());
  const common = {
    method: 'GET',
    path: '/version',
    headers: {},
    body: undefined,
    signal: undefined,
  } as const;
  return await exchange(pool, { ...common, origin, timeoutMs: 60_000, label: 'GET /version' }).catch(
    (error: unknown) => error,
  );
}

describe('a proxy', () => {
  test('that cannot reach the API server is a network error, to be retried', async () => {
    const proxyUrl = await proxy((socket) => socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n'));
    const error = await failureThrough(proxyUrl);
    expect(error).toBeInstanceOf(KubeError);
    expect(error).toMatchObject({ code: 'KUBE_NETWORK', retryable: true });
  });

  test('that does not listen: the error names the API server', async () => {
    expect(String(await failureThrough('http://127.0.0.1:1'))).toBe(
      'KubeError: GET /version: the API server https://api.test:6443 could not be reached, or the connection broke (KUBE_NETWORK ECONNREFUSED)',
    );
  });

  test('that says nothing is given up when a connection is', async () => {
    const proxyUrl = await proxy(() => undefined);
    expect(await failureThrough(proxyUrl, 200)).toMatchObject({
      code: 'KUBE_TIMEOUT',
      reason: 'UND_ERR_HEADERS_TIMEOUT',
    });
  });
});

test('each text of a header that has several is sent as one of its own', async () => {
  const sent: string[] = [];
  const server = createServer((request, response) => {
    sent.push(...request.rawHeaders);
    response.end();
  });
  const origin = `http://127.0.0.1:${await portOf(server)}`;
  const pool = openPool({ origin, tls: {} }, 1);
  onTestFinished(() => pool.destroy());
  const headers = { 'impersonate-group': ['a', 'b'] };
  const common = { method: 'GET', path: '/', body: undefined, signal: undefined } as const;
  await exchange(pool, { ...common, origin, headers, timeoutMs: 60_000, label: 'GET /' });
  expect(sent).toEqual(expect.arrayContaining(['impersonate-group', 'a', 'impersonate-group', 'b']));
});

test('the error of a client whose API server does not listen has its address, and nothing else of its URL', async () => {
  const config = new KubeConfig();
  const cluster = { name: 'c', server: 'http://alice:hunter2@127.0.0.1:1/path', skipTLSVerify: true };
  config.loadFromClusterAndUser(cluster, { name: 'u' });
  const client = new KubeClient({ userAgent: 'spec', load: () => config });
  onTestFinished(() => client.close());
  const { signal } = new AbortController();
  const why =
    'the API server http://127.0.0.1:1 could not be reached, or the connection broke (KUBE_NETWORK ECONNREFUSED)';
  await expect(client.get('/version')).rejects.toThrow(`GET /version: ${why}`);
  await expect(client.stream('/api', { signal })).rejects.toThrow(`WATCH /api: ${why}`);
});
