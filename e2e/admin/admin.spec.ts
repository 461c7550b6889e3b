import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { OPERATIONS, type Operation, type OperationId } from '@reroll/shared/api/operations';
import { AdminApi, OPERATOR, READER, tokensFile, tokensText, TOKENS } from '../support/admin/admin-api.ts';
import { writeCertificates } from '../support/admin/certificates.ts';
import { cleanUp } from '../support/cleanup.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace } from '../support/kube.ts';
import type { App } from '../support/processes.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import { eventually } from '../support/wait.ts';

const READ = { headers: { authorization: `Bearer ${TOKENS.reader}` } };

let reroll: Reroll;
let admin: App;
let api: AdminApi;

beforeAll(async () => {
  const cluster = sharedCluster();
  const space = await namespace(connect(cluster));
  reroll = await startReroll({ cluster, namespaces: [space], watchers: 0, workers: 0, admins: 1 });
  const [first] = reroll.admins;
  if (!first) throw new Error('expected an admin');
  admin = first;
  api = new AdminApi(admin);
});

/** One more admin of the same install. */
async function another(flags: readonly string[]): Promise<AdminApi> {
  const app = reroll.start('admin', flags);
  await app.ready();
  return new AdminApi(app);
}

describe('the OpenAPI document', () => {
  it('is of 3.1, needs no token, and has every operation of the table', async () => {
    const answer = await api.fetch('/api/openapi.json');
    expect(answer.headers.get('content-type')).toContain('application/json');
    const document = (await answer.json()) as {
      openapi: string;
      paths: Record<string, Record<string, { operationId: string }>>;
    };
    expect(document.openapi).toMatch(/^3\.1\./);
    const found = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId }]) => `${operationId} ${method} ${path}`),
    );
    const expected = (Object.entries(OPERATIONS) as [OperationId, Operation][]).map(
      ([id, { method, path }]) => `${id} ${method} ${path}`,
    );
    expect(found.sort()).toEqual(expected.sort());
  });

  it('has a page for people, whose parts are all our own', async () => {
    const page = await api.fetch('/api/docs');
    expect(page.headers.get('content-type')).toContain('text/html');
    const html = await page.text();
    const parts = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, part = '']) => part);
    expect(parts.length).toBeGreaterThan(2);
    for (const part of parts) {
      expect(part).not.toMatch(/^(\w+:|\/)/);
      expect((await api.fetch(`/api/${part}`)).status).toBe(200);
    }
  });
});

describe('a request', () => {
  it('may carry its token in Reroll-Authorization, which then counts and not the other', async () => {
    const headers = { authorization: 'Basic eDp5', 'reroll-authorization': `Bearer ${TOKENS.reader}` };
    expect((await api.call('listQueues', { token: null, headers })).items).toHaveLength(4);
  });

  it('carries no cookie that counts', async () => {
    const headers = { cookie: `token=${TOKENS.reader}; authorization=Bearer ${TOKENS.reader}` };
    expect(await api.problem('listQueues', { token: null, headers })).toMatchObject({ status: 401 });
  });

  it('is one line in the log, with its id, and without what it carried', async () => {
    const answer = await api.request('listAudit', { query: { actor: 'only-in-the-query' } });
    const id = answer.headers.get('x-request-id') ?? '';
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    const line = await eventually(() =>
      admin
        .logs()
        .split('\n')
        .find((each) => each.includes(id)),
    );
    expect(line).toContain('operation=listAudit');
    expect(line).toContain('path=/api/v1/audit ');
    expect(line).toContain('actor=operator');
    expect(admin.logs()).not.toContain('only-in-the-query');
    for (const { token } of [READER, OPERATOR]) expect(admin.logs()).not.toContain(token);
  });
});

describe('a body', () => {
  const path = '/api/v1/queues/reloads/pause';
  const headers = { authorization: `Bearer ${TOKENS.operator}`, 'content-type': 'application/json' };

  it('that is packed is refused', async () => {
    const packed = { ...headers, 'content-encoding': 'gzip' };
    const answer = await api.fetch(path, { method: 'POST', body: '{"reason":"x"}', headers: packed });
    expect(await answer.json()).toMatchObject({ code: 'UnsupportedMediaType', status: 415 });
  });

  it('from a page of another site is refused, and is nobody’s without a token', async () => {
    const body = '{"reason":"x"}';
    for (const site of ['cross-site', 'same-site']) {
      const crossing = { ...headers, 'sec-fetch-site': site };
      const answer = await api.fetch(path, { method: 'POST', body, headers: crossing });
      expect(await answer.json()).toMatchObject({ code: 'Forbidden', status: 403 });
    }
    const own = { ...headers, 'sec-fetch-site': 'same-origin' };
    expect((await api.fetch(path, { method: 'POST', body: '{}', headers: own })).status).toBe(400);
  });
});

describe('what a browser is told', () => {
  it.each(['/', '/api/v1/queues', '/api/docs', '/nowhere'])('at %s keeps others out', async (path) => {
    const { headers } = await api.fetch(path, {
      headers: { ...READ.headers, origin: 'https://evil.example' },
    });
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self';");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe-eval');
    expect(policy.includes("style-src 'self' 'unsafe-inline'")).toBe(path === '/api/docs');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
    expect(headers.get('x-powered-by')).toBeNull();
    expect(headers.get('set-cookie')).toBeNull();
  });
});

describe('settings of an admin', () => {
  it('let in who has no token, to read, and name a file of tokens, which is read anew', async () => {
    const file = tokensFile([READER]);
    const flags = ['--anonymous=read', '--auth=static', `--static-tokens-file=${file}`];
    const open = (await another(flags)).as(undefined);
    const { caller } = await open.call('getStatus', { token: null });
    expect(caller).toEqual({ name: 'anonymous', clusterWide: true, mayReload: false, maySteer: false });
    const pause = { params: { name: 'reloads' as const }, body: { reason: 'x' }, token: null };
    expect(await open.problem('pauseQueue', pause)).toMatchObject({ code: 'Forbidden' });
    expect(await open.problem('listQueues', { token: 'new' })).toMatchObject({ status: 401 });
    writeFileSync(file, tokensText([{ ...READER, token: 'new' }]));
    await eventually(async () => (await open.request('listQueues', { token: 'new' })).status === 200);
    expect(await open.problem('listQueues', { token: READER.token })).toMatchObject({ status: 401 });
  });

  it('name a certificate, which is read anew', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'reroll-e2e-tls-'));
    cleanUp(() => rmSync(folder, { recursive: true, force: true }));
    const { cert, key } = writeCertificates(folder, 'reroll-admin');
    const app = reroll.start('admin', [`--api-tls-cert-file=${cert}`, `--api-tls-key-file=${key}`]);
    await app.ready();
    const address = new URL(await app.apiUrl());
    const status = (ca: string): Promise<number> => statusOverTls(address, ca);
    const first = readFileSync(join(folder, 'ca.crt'), 'utf8');
    expect(await status(first)).toBe(200);
    writeCertificates(folder, 'reroll-admin');
    const second = readFileSync(join(folder, 'ca.crt'), 'utf8');
    await eventually(async () => (await status(second)) === 200, { what: 'the new certificate' });
    await expect(status(first)).rejects.toThrow();
  });

  it('that cannot be used end it, with what was expected and nothing of what was given', async () => {
    const file = tokensFile([]);
    writeFileSync(file, 'hunter2');
    const wrong = {
      '--static-tokens-file: expected a list of name, sha256': [
        '--auth=static',
        `--static-tokens-file=${file}`,
      ],
      '--api-tls-cert-file: expected a certificate in PEM and its private key': [
        `--api-tls-cert-file=${file}`,
        `--api-tls-key-file=${file}`,
      ],
    };
    const apps = Object.entries(wrong).map(([said, flags]) => [said, reroll.start('admin', flags)] as const);
    for (const [said, app] of apps) {
      expect(await app.exited).toBe(2);
      expect(app.logs()).toContain(said);
      expect(app.logs()).not.toContain('hunter2');
    }
  });
});

function statusOverTls({ hostname, port }: URL, ca: string): Promise<number> {
  const options = { hostname, port, path: '/api/v1/queues', ca, servername: 'reroll-admin', agent: false };
  return new Promise((resolve, reject) => {
    const request = httpsRequest({ ...options, ...READ }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    request.on('error', reject);
    request.end();
  });
}
