import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { COMMON_PROBLEMS, type OperationId } from '@reroll/shared/api/operations';
import {
  problem as problemSchema,
  PROBLEMS,
  type Problem,
  type ProblemCode,
} from '@reroll/shared/api/problem';
import { ensureSchemathesis } from '../../tools/contract/ensure-schemathesis.ts';
import { withExamples, type OpenApiDocument } from '../../tools/contract/openapi-examples.ts';
import { runSchemathesis, type Answered } from '../../tools/contract/run-schemathesis.ts';
import { AdminApi, type Asked } from '../support/admin/admin-api.ts';
import {
  callsAbout,
  NOWHERE,
  OPERATION_IDS,
  operationOf,
  takesBody,
  type Calls,
} from '../support/admin/api-calls.ts';
import { BAD_REQUESTS } from '../support/admin/bad-requests.ts';
import { cleanUp } from '../support/cleanup.ts';
import { RedisProcess } from '../support/redis/redis-process.ts';
import { addFailingJob, startTenants, type Tenants } from '../support/admin/tenants.ts';
import { eventually } from '../support/wait.ts';

/** What everybody who uses the API may rely on: its OpenAPI document, and the problems that it answers with. */
const SEED = 20_261_121;

let tenants: Tenants;
let operator: AdminApi;
let calls: Calls;
let job: string;

beforeAll(async () => {
  [tenants] = await Promise.all([startTenants(), ensureSchemathesis({ log: console.error })]);
  operator = tenants.as('operator');
  const { items } = await operator.call('listChanges', {});
  job = await addFailingJob(tenants.reroll, `Deployment/${tenants.ours.name}/web`);
  calls = callsAbout({
    namespace: tenants.ours.name,
    change: items.find(({ source }) => source?.namespace === tenants.ours.name)?.id ?? '',
    job,
  });
});

/** Reads an answer that has to be a problem, and nothing but one: of the schema, its status that of its code, no token in it. */
async function problemOf(response: Response): Promise<Problem & { readonly code: ProblemCode }> {
  const text = await response.text();
  expect(response.headers.get('content-type'), text).toMatch(/^application\/problem\+json/);
  expect(response.headers.get('cache-control')).toBe('no-store');
  const problem = problemSchema.parse(JSON.parse(text));
  const { status, title } = PROBLEMS[problem.code];
  expect(problem).toMatchObject({ status, title, type: `urn:reroll:problem:${problem.code}` });
  expect(response.status).toBe(status);
  expect(problem.requestId).toBe(response.headers.get('x-request-id'));
  for (const token of Object.values(tenants.tokens)) expect(text).not.toContain(token);
  return problem;
}

async function codeOf<Id extends OperationId>(api: AdminApi, id: Id, asked: Asked<Id>): Promise<string> {
  return (await problemOf(await api.request(id, asked))).code;
}

/** A job that was tried again is not there to be tried until it has failed. */
async function jobHasFailed(): Promise<void> {
  await eventually(async () => (await operator.call('getJob', { params: { id: job } })).state === 'failed');
}

/** The same call with another body, or another type of it. */
async function send(id: OperationId, by: { body: string; type?: string; key?: string }): Promise<Response> {
  const { path, method } = operationOf(id);
  const params = Object.entries((calls[id] as { params?: Record<string, string> }).params ?? {});
  const filled = params.reduce((text, [name, value]) => text.replace(`{${name}}`, value), path);
  return await operator.fetch(`/api/v1${filled}`, {
    method: method.toUpperCase(),
    body: by.body,
    headers: {
      authorization: `Bearer ${tenants.tokens.operator}`,
      'content-type': by.type ?? 'application/json',
      ...(by.key === undefined ? {} : { 'idempotency-key': by.key }),
    },
  });
}

const withBody = OPERATION_IDS.filter(takesBody);
const documenting = (code: ProblemCode): OperationId[] =>
  OPERATION_IDS.filter((id) => [...COMMON_PROBLEMS, ...operationOf(id).problems].includes(code as never));

describe('a problem is answered', () => {
  it('of every kind: each that an operation documents is provoked below, but for failures of our own', () => {
    const provoked: readonly ProblemCode[] = [
      'InvalidRequest',
      'Unauthenticated',
      'Forbidden',
      'NotFound',
      'Conflict',
      'TooLarge',
      'UnsupportedMediaType',
      'IdempotencyMismatch',
      'TooManyRequests',
      'Unavailable',
    ];
    const documented = new Set(
      OPERATION_IDS.flatMap((id) => [...COMMON_PROBLEMS, ...operationOf(id).problems]),
    );
    expect([...documented].filter((code) => code !== 'Internal').sort()).toEqual([...provoked].sort());
    expect(new Set(BAD_REQUESTS.map(({ id }) => id))).toEqual(new Set(OPERATION_IDS));
  });

  it.each(BAD_REQUESTS)('InvalidRequest, by $id to $given, with what was expected', async (row) => {
    const { method } = operationOf(row.id);
    const response = await operator.fetch(`/api/v1${row.path}`, {
      method: method.toUpperCase(),
      ...(row.body === undefined ? {} : { body: row.body }),
      headers: {
        authorization: `Bearer ${tenants.tokens.operator}`,
        ...(takesBody(row.id) ? { 'content-type': 'application/json' } : {}),
      },
    });
    const { code, errors } = await problemOf(response);
    expect(code).toBe('InvalidRequest');
    expect(errors).toContainEqual({ path: row.at, expected: row.expected });
  });

  it('Unauthenticated, by every operation, to nobody and to a token that nobody knows', async () => {
    for (const id of OPERATION_IDS) {
      for (const token of [null, 'guessed']) {
        const response = await operator.request(id, { ...calls[id], token } as Asked<typeof id>);
        expect(response.headers.get('www-authenticate'), id).toBe('Bearer realm="reroll"');
        expect((await problemOf(response)).code, id).toBe('Unauthenticated');
      }
    }
  });

  it('Forbidden, by every operation, to who has no right', async () => {
    for (const id of OPERATION_IDS)
      expect(await codeOf(tenants.as('nobody'), id, calls[id]), id).toBe('Forbidden');
  });

  it.each(documenting('NotFound'))('NotFound, by %s of what is not there', async (id) => {
    expect(await codeOf(operator, id, callsAbout(NOWHERE)[id])).toBe('NotFound');
  });

  it('MethodNotAllowed, on every path, with the methods that it has', async () => {
    const paths = new Map<string, string[]>();
    for (const id of OPERATION_IDS) {
      const { path, method } = operationOf(id);
      const example = path
        .replace(/\{kind\}/, 'Job')
        .replace('{id}', 'changes:1')
        .replace('{name}', 'changes');
      const filled = example.replace('{namespace}', 'shop');
      paths.set(filled, [...(paths.get(filled) ?? []), method.toUpperCase()]);
    }
    for (const [path, methods] of paths) {
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        if (methods.includes(method)) continue;
        const headers = { authorization: `Bearer ${tenants.tokens.operator}` };
        const response = await operator.fetch(`/api/v1${path}`, { method, headers });
        expect(response.headers.get('allow')?.split(', ').sort(), `${method} ${path}`).toEqual(
          methods.sort(),
        );
        expect((await problemOf(response)).code).toBe('MethodNotAllowed');
      }
    }
  });

  it('NotFound, for a path of which the API has no operation', async () => {
    for (const path of [
      '/api/v1',
      '/api/v1/nowhere',
      '/api/v1/changes/',
      '/api/v1/Changes',
      '/api/v1//changes',
    ])
      expect((await problemOf(await operator.fetch(path))).code, path).toBe('NotFound');
  });

  it.each(withBody)('TooLarge, by %s to more than 64 KiB', async (id) => {
    const body = JSON.stringify({ reason: 'x'.repeat(65_536) });
    expect((await problemOf(await send(id, { body }))).code).toBe('TooLarge');
  });

  it.each(withBody)('UnsupportedMediaType, by %s to what is not said to be JSON', async (id) => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp']) {
      const response = await send(id, { body: '{"reason":"x"}', type });
      expect((await problemOf(response)).code, type).toBe('UnsupportedMediaType');
    }
  });

  it.each(documenting('IdempotencyMismatch'))(
    'IdempotencyMismatch, by %s to a key that was used for another reason',
    async (id) => {
      const body = calls[id].body as { reason: string };
      const key = `mismatch-${id}`;
      await jobHasFailed();
      const first = await send(id, { key, body: JSON.stringify(body) });
      expect(first.status, await first.text()).toBe(operationOf(id).status);
      const other = JSON.stringify({ ...body, reason: 'another reason' });
      expect((await problemOf(await send(id, { key, body: other }))).code).toBe('IdempotencyMismatch');
    },
  );

  it('InvalidRequest, by every write to a key that is none', async () => {
    for (const id of documenting('IdempotencyMismatch')) {
      const response = await send(id, { key: 'x'.repeat(129), body: JSON.stringify(calls[id].body) });
      expect(
        (await problemOf(response)).errors?.map(({ path }) => path),
        id,
      ).toEqual(['header.Idempotency-Key']);
    }
  });

  it('Conflict, by every write with the key of one that never came to its end', async () => {
    const { redis, catalog } = tenants.reroll;
    await jobHasFailed();
    const firsts = documenting('Conflict').map(async (id) => {
      const [key, body] = [`conflict-${id}`, JSON.stringify(calls[id].body)];
      const first = await send(id, { key, body });
      expect(first.status, await first.text()).toBe(operationOf(id).status);
    });
    await Promise.all(firsts);
    await jobHasFailed();
    for (const name of await redis.keys(`${catalog.keys.idempotency}*`)) {
      const { answer: _answer, ...underWay } = JSON.parse((await redis.get(name)) ?? '{}') as {
        answer: unknown;
      };
      await redis.set(name, JSON.stringify(underWay));
    }
    const again = documenting('Conflict').map(async (id) => {
      const [key, body] = [`conflict-${id}`, JSON.stringify(calls[id].body)];
      expect((await problemOf(await send(id, { key, body }))).code, id).toBe('Conflict');
    });
    await Promise.all(again);
  });

  it('TooManyRequests, by every operation to a caller, or an address, that has made too many', async () => {
    for (const flag of ['--api-requests-per-minute=1', '--api-requests-per-minute-per-address=1']) {
      const admin = tenants.reroll.start('admin', [flag]);
      await admin.ready();
      const api = new AdminApi(admin, tenants.tokens.operator);
      // A token that is known since then is counted for itself.
      for (let count = 0; count < 2; count += 1) await (await api.request('getLimits')).text();
      for (const id of OPERATION_IDS) {
        const response = await api.request(id, calls[id]);
        expect(Number(response.headers.get('retry-after')), id).toBeGreaterThan(0);
        expect((await problemOf(response)).code, id).toBe('TooManyRequests');
      }
      await admin.stop();
    }
  });

  it('Unavailable, by every operation but the one that tells of it, when Redis is away', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'reroll-e2e-redis-'));
    cleanUp(() => rmSync(folder, { recursive: true, force: true }));
    const redis = await RedisProcess.start({ folder, config: () => [] });
    const admin = tenants.reroll.start('admin', [], { REDIS_URL: `redis://${redis.address}` });
    await admin.ready();
    const api = new AdminApi(admin, tenants.tokens.operator);
    await redis.kill();
    await eventually(async () => !(await api.call('getStatus')).redis.ok);
    for (const id of OPERATION_IDS.filter((each) => each !== 'getStatus')) {
      const response = await api.request(id, calls[id]);
      expect(Number(response.headers.get('retry-after')), id).toBeGreaterThan(0);
      expect((await problemOf(response)).code, id).toBe('Unavailable');
    }
    await admin.stop();
  });
});

describe('the OpenAPI document', () => {
  it(`is what the API does, whatever it is sent (schemathesis, seed ${SEED})`, async () => {
    const document = (await (await operator.fetch('/api/openapi.json')).json()) as OpenApiDocument;
    const result = await runSchemathesis({
      document: withExamples(document, await examples()),
      url: `${await tenants.reroll.admins[0]?.apiUrl()}/api/v1`,
      token: tenants.tokens.operator,
      seed: SEED,
      examples: 8,
      streams: { streamEvents: { 'Last-Event-ID': tenants.beginning } },
      // A workload and a source of two namespaces.
      refusals: { explain: [400] },
      log: console.error,
    });
    expect(result.ok, result.output).toBe(true);
    // Whatever is only ever refused shows nothing.
    const answered = OPERATION_IDS.map((id) => [id, statusesOf(id, result.answers)] as const);
    for (const [id, statuses] of answered) {
      const { status, params, query, body } = operationOf(id);
      const bad = (params ?? query ?? body) ? [400] : [];
      expect([...statuses], id).toEqual(expect.arrayContaining([status, 401, ...bad]));
    }
  });

  it('and no queue is left paused, nor a limit set', async () => {
    for (const name of ['changes', 'reloads', 'resumes', 'notifications'] as const)
      await operator.call('resumeQueue', { params: { name }, body: { reason: 'the end of the spec' } });
    const { items } = await operator.call('listQueues');
    expect(items.map(({ paused }) => paused)).toEqual([false, false, false, false]);
  });
});

/** What is there, and the one cursor of each list that is known. */
async function examples(): Promise<Parameters<typeof withExamples>[1]> {
  const { getChange, getSource } = calls;
  const { name } = tenants.ours;
  const lists = OPERATION_IDS.filter(
    (id) => operationOf(id).query && 'cursor' in (operationOf(id).query?.shape ?? {}),
  );
  const cursors = lists.map(async (id) => {
    const answer = await operator.request(id, { query: { limit: 1 } } as Asked<typeof id>);
    return [`${id}.cursor`, [((await answer.json()) as { next: string }).next]] as const;
  });
  return {
    schemas: {
      NamespaceName: name,
      ObjectName: 'web',
      WorkloadKey: `Deployment/${name}/web`,
      SourceKey: `Secret/${name}/keys`,
      PreviewRequest: { of: 'source', source: getSource.params },
    },
    parameters: {
      'getChange.id': getChange.params?.id,
      'getJob.id': job,
      'retryJob.id': job,
      'getWorkload.kind': 'Deployment',
      'reloadWorkload.kind': 'Deployment',
      'getSource.kind': 'Secret',
      'getSource.name': 'keys',
    },
    only: Object.fromEntries(await Promise.all(cursors)),
  };
}

function statusesOf(id: OperationId, answers: readonly Answered[]): Set<number> {
  const { path, method } = operationOf(id);
  const pattern = new RegExp(`^/api/v1${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
  const own = answers.filter((answer) => answer.method === method && pattern.test(answer.path));
  return new Set(own.map(({ status }) => status));
}
