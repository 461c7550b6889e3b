import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { Registry } from 'prom-client';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { HealthChecks } from './health-checks.ts';
import { CHECK_DEADLINE_MS, runHealthChecks } from './health-checks.ts';
import { startHttpServer } from './http-server.ts';
import type { HttpServer, HttpServerSettings } from './http-server.ts';
import { ListenError } from './listening.ts';
import { silentLogger } from '../logging/logging.ts';
import { counter } from '../metrics/registry.ts';

const SECRET = 'hunter2-s3cr3t';
const servers: HttpServer[] = [];

async function start(settings: Partial<HttpServerSettings> = {}): Promise<HttpServer> {
  const address = { host: '127.0.0.1', port: 0 };
  const registry = new Registry();
  const server = await startHttpServer({ address, registry, ready: {}, log: silentLogger, ...settings });
  servers.push(server);
  return server;
}

afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(servers.splice(0).map((server) => server.close(0)));
});

interface Answer {
  status: number | undefined;
  headers: IncomingMessage['headers'];
  body: string;
}

function ask(server: HttpServer, path: string, method = 'GET'): Promise<Answer> {
  const { port } = server.address;
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path, method, agent: false }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
      response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, body }));
    });
    asked.on('error', reject).end();
  });
}

describe('the HTTP server', () => {
  it.each(['/live', '/healthz', '/live?verbose'])('answers %s with alive', async (path) => {
    expect(await ask(await start(), path)).toMatchObject({ status: 200, body: 'alive' });
  });

  it('answers /live with 500 and why, if a check of it fails', async () => {
    const server = await start({ live: { lease: () => 'lost the Lease' } });
    expect(await ask(server, '/live')).toMatchObject({ status: 500, body: '{"lease":"lost the Lease"}' });
  });

  it('answers /metrics in the format of Prometheus', async () => {
    const registry = new Registry();
    counter(registry, { name: 'reroll_test_total', help: 'A test.' }).inc(3);
    const answer = await ask(await start({ registry }), '/metrics');
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe(registry.contentType);
    expect(answer.body).toContain('reroll_test_total 3');
  });

  it('answers with a bare 500 if the metrics fail', async () => {
    const registry = { contentType: 'text/plain', metrics: () => Promise.reject(new Error(SECRET)) };
    expect(await ask(await start({ registry: registry as never }), '/metrics')).toMatchObject({
      status: 500,
      body: 'failed',
    });
  });

  it('answers /ready with 200 and the names of the checks while all are well', async () => {
    const server = await start({ ready: { redis: () => undefined, api: () => Promise.resolve(undefined) } });
    expect(await ask(server, '/ready')).toMatchObject({ status: 200, body: '{"redis":"ok","api":"ok"}' });
  });

  it('answers /ready with 503 and why, in our words only', async () => {
    const ready: HealthChecks = {
      api: () => undefined,
      streams: () => 'not listed yet: Secret',
      redis: () => Promise.reject(Object.assign(new Error(SECRET), { code: 'ECONNREFUSED' })),
    };
    const answer = await ask(await start({ ready }), '/ready');
    expect(answer.status).toBe(503);
    expect(JSON.parse(answer.body)).toEqual({
      api: 'ok',
      streams: 'not listed yet: Secret',
      redis: 'failed: Error ECONNREFUSED',
    });
  });

  it.each(['/', '/debug/pprof/heap', '/metrics/', '/ready/../live'])('answers %s with 404', async (path) => {
    expect(await ask(await start(), path)).toMatchObject({ status: 404, body: 'not found' });
  });

  it.each(['POST', 'DELETE', 'OPTIONS'])('answers %s with 405 and what is allowed', async (method) => {
    const answer = await ask(await start(), '/live', method);
    expect(answer).toMatchObject({ status: 405 });
    expect(answer.headers.allow).toBe('GET, HEAD');
  });

  it('answers HEAD with the headers of GET and no body', async () => {
    const answer = await ask(await start(), '/live', 'HEAD');
    expect(answer).toMatchObject({ status: 200, body: '' });
    expect(answer.headers['content-length']).toBe('5');
  });

  it('sends no header that says what it runs on', async () => {
    const { headers } = await ask(await start(), '/live');
    expect(Object.keys(headers).sort()).toEqual([
      'cache-control',
      'connection',
      'content-length',
      'content-type',
      'date',
      'x-content-type-options',
    ]);
  });

  it('says what to change if the address is in use', async () => {
    const { address } = await start();
    const second = startHttpServer({ address, registry: new Registry(), ready: {}, log: silentLogger });
    await expect(second).rejects.toThrow(ListenError);
    await expect(second).rejects.toThrow(
      `given 127.0.0.1:${address.port} (EADDRINUSE). Choose another with --metrics-addr`,
    );
  });
});

describe('closing the HTTP server', () => {
  it('drops connections that are kept alive', async () => {
    const server = await start();
    const socket = connect(server.address.port, '127.0.0.1');
    const closed = new Promise((resolve) => socket.on('close', resolve));
    const answered = new Promise((resolve) => socket.once('data', resolve));
    socket.write('GET /live HTTP/1.1\r\nHost: x\r\n\r\n');
    await answered;
    await server.close(60_000);
    await closed;
  });

  it('drops a request in hand at the deadline', async () => {
    let asked: () => void = () => undefined;
    const inHand = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const hanging = () => {
      asked();
      return new Promise<undefined>(() => undefined);
    };
    const server = await start({ ready: { hanging } });
    const answer = ask(server, '/ready');
    await inHand;
    await Promise.all([server.close(0), expect(answer).rejects.toThrow('socket hang up')]);
  });

  it('lets a request in hand finish before the deadline, and ends its connection', async () => {
    let finish: () => void = () => undefined;
    let asked: () => void = () => undefined;
    const inHand = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const slow = () => {
      asked();
      return new Promise<undefined>((resolve) => {
        finish = () => resolve(undefined);
      });
    };
    const server = await start({ ready: { slow } });
    const answer = ask(server, '/ready');
    await inHand;
    const closed = server.close(60_000);
    finish();
    expect((await answer).headers.connection).toBe('close');
    await closed;
  });
});

describe('a health check', () => {
  it('that hangs has failed at its deadline, and its signal fires', async () => {
    vi.useFakeTimers();
    const seen: AbortSignal[] = [];
    const report = runHealthChecks({
      hanging: (signal) => {
        seen.push(signal);
        return new Promise(() => undefined);
      },
      well: () => undefined,
    });
    await vi.advanceTimersByTimeAsync(CHECK_DEADLINE_MS);
    expect(await report).toEqual({ ok: false, checks: { hanging: 'no answer within 2 s', well: 'ok' } });
    expect(seen[0]?.aborted).toBe(true);
  });

  it('that throws at once has failed', async () => {
    const report = await runHealthChecks({
      broken: () => {
        throw new TypeError(SECRET);
      },
    });
    expect(report).toEqual({ ok: false, checks: { broken: 'failed: TypeError' } });
  });
});
