import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { changed, reloaded, rollout } from '@reroll/core/testing/history';
import { streamKey } from '@reroll/redis/history/history';
import { AdminApi, OPERATOR, READER, tokensFile, tokensText, TOKENS } from '../support/admin/admin-api.ts';
import { OPERATION_IDS, operationOf } from '../support/admin/api-calls.ts';
import { writeCertificates } from '../support/admin/certificates.ts';
import { EventReader } from '../support/admin/event-reader.ts';
import { cleanUp } from '../support/cleanup.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace } from '../support/kube.ts';
import type { App } from '../support/processes.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import { eventually } from '../support/wait.ts';

let reroll: Reroll;
let admin: App;
/** Two admins of one install. The history is written as a worker writes it; no watcher and no worker disturbs it. */
let api: AdminApi;
let second: AdminApi;

beforeAll(async () => {
  const cluster = sharedCluster();
  const space = await namespace(connect(cluster));
  reroll = await startReroll({ cluster, namespaces: [space], watchers: 0, workers: 0, admins: 2 });
  const [one, two] = reroll.admins;
  if (!one || !two) throw new Error('expected two admins');
  admin = one;
  [api, second] = [new AdminApi(one), new AdminApi(two)];
});

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
    const expected = OPERATION_IDS.map((id) => `${id} ${operationOf(id).method} ${operationOf(id).path}`);
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
      headers: { authorization: `Bearer ${TOKENS.reader}`, origin: 'https://evil.example' },
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

  it.each(['/api/v1/queues', '/api/v1/changes'])(
    'at %s is for nobody else, so no cache keeps it',
    async (path) => {
      const answer = await api.fetch(path, {
        headers: { 'reroll-authorization': `Bearer ${TOKENS.reader}` },
      });
      expect(answer.status).toBe(200);
      expect(answer.headers.get('cache-control')).toBe('no-store');
    },
  );
});

describe('settings of an admin', () => {
  it('let in who has no token, and name a file of tokens and a certificate, which are read anew', async () => {
    const file = tokensFile([READER]);
    const folder = mkdtempSync(join(tmpdir(), 'reroll-e2e-tls-'));
    cleanUp(() => rmSync(folder, { recursive: true, force: true }));
    const { cert, key } = writeCertificates(folder, 'reroll-admin');
    const flags = ['--anonymous=read', '--auth=static', `--static-tokens-file=${file}`];
    const app = reroll.start('admin', [...flags, `--api-tls-cert-file=${cert}`, `--api-tls-key-file=${key}`]);
    await app.ready();
    const address = new URL(await app.apiUrl());
    const authority = (): string => readFileSync(join(folder, 'ca.crt'), 'utf8');
    const status = (ca: string, token?: string): Promise<number> => statusOverTls(address, ca, token);
    const first = authority();
    expect(await Promise.all([undefined, READER.token, 'new'].map((token) => status(first, token)))).toEqual([
      200, 200, 401,
    ]);
    writeFileSync(file, tokensText([{ ...READER, token: 'new' }]));
    await eventually(async () => (await status(first, 'new')) === 200, { what: 'the new token' });
    expect(await status(first, READER.token)).toBe(401);
    writeCertificates(folder, 'reroll-admin');
    await eventually(async () => (await status(authority())) === 200, { what: 'the new certificate' });
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

function statusOverTls({ hostname, port }: URL, ca: string, token?: string): Promise<number> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const options = { hostname, port, path: '/api/v1/queues', ca, servername: 'reroll-admin', agent: false };
  return new Promise((resolve, reject) => {
    const request = httpsRequest({ ...options, headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    request.on('error', reject);
    request.end();
  });
}

let written = 0;

/** The id of a new change of a ConfigMap in the namespace `shop`. */
async function change(): Promise<string> {
  written += 1;
  await reroll.history.addChange(changed(Date.now(), { hash: `1.${written}` }));
  const [latest] = await reroll.history.latest('changes', 1);
  return latest?.id ?? '';
}

function ids(reader: EventReader): unknown[] {
  return reader.named('change').map(({ data }) => data['id']);
}

describe('a stream of events', () => {
  it('has changes, outcomes, rollouts and the audit log as they come, each joined to what it belongs to', async () => {
    const reader = await EventReader.open(api);
    const id = await change();
    await eventually(() => reader.named('change').length > 0);
    const now = Date.now();
    await reroll.history.addOutcome(reloaded(now, { at: now }));
    await eventually(() => reader.named('outcome').length > 0);
    const entry = JSON.stringify(rollout(2, { since: now, at: now }));
    await reroll.redis.xadd(streamKey(reroll.catalog.keys, 'rollouts'), '*', 'entry', entry);
    await eventually(() => reader.named('rollout').length > 0);
    await api.call('setLimits', {
      body: { concurrency: 4, reloadsPerMinute: null, reason: 'for the events' },
    });
    await eventually(() => reader.named('audit').length > 0);
    expect(reader.events.map(({ name, data }) => [name, data])).toMatchObject([
      ['change', { id, cause: 'updated', states: { pending: 1 } }],
      ['outcome', { change: id, state: 'reloaded' }],
      ['rollout', { rollout: { state: 'complete', generation: 2 } }],
      ['audit', { action: 'setLimits', reason: 'for the events' }],
    ]);
  });

  it('goes on at another admin where it was left, without a gap and without anything twice; so do pages', async () => {
    const before = await EventReader.open(api);
    const seen = await change();
    await eventually(() => ids(before).includes(seen));
    const { lastId } = before;
    before.close();
    const missed = [await change(), await change()];
    const after = await EventReader.open(second, { lastEventId: lastId });
    const last = await change();
    await eventually(() => ids(after).includes(last));
    expect(ids(after)).toEqual([...missed, last]);
    const lists = async (): Promise<boolean> => (await api.request('getChange', { params: { id: last } })).ok;
    await eventually(lists, { what: 'the last change to be listed' });
    const page = await api.call('listChanges', { query: { limit: 2 } });
    await change();
    const { items } = await second.call('listChanges', { query: { limit: 2, cursor: page.next ?? '' } });
    expect([...page.items, ...items].map(({ id }) => id)).toEqual([last, ...missed.toReversed(), seen]);
  });

  it('is refused to a caller who has ten already', async () => {
    const readers = await Promise.all(
      Array.from({ length: 10 }, () => EventReader.open(api.as(TOKENS.reader))),
    );
    expect(await api.as(TOKENS.reader).problem('streamEvents')).toMatchObject({ code: 'TooManyRequests' });
    readers[0]?.close();
    await eventually(async () => readers.push(await EventReader.open(api.as(TOKENS.reader))));
    for (const reader of readers) reader.close();
  });

  it('begins anew when Redis is emptied, with lists of what there is then, and ends with its admin', async () => {
    const reader = await EventReader.open(second);
    const gone = await change();
    await eventually(() => ids(reader).includes(gone));
    const { keys } = reroll.catalog;
    await reroll.redis.del(keys.changes, keys.outcomes, keys.rolloutHistory, keys.audit);
    await eventually(() => reader.named('reset').length > 0);
    expect((await second.call('listChanges', {})).items).toEqual([]);
    const id = await change();
    await eventually(() => ids(reader).includes(id));
    expect(await second.problem('getChange', { params: { id: gone } })).toMatchObject({ code: 'NotFound' });
    await Promise.all([reroll.admins[1]?.stop(), reader.ended]);
  });
});
