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
import { AdminApi, OPERATOR, READER, tokensFile, TOKENS, type Asked } from '../support/admin/admin-api.ts';
import {
  callsAbout,
  NOWHERE,
  OPERATION_IDS,
  operationOf,
  takesBody,
  ALL_WITH_OWN_TOKEN,
  BULK,
  WITH_OWN_TOKEN,
  type Calls,
} from '../support/admin/api-calls.ts';
import { presentEventId } from '../support/admin/event-reader.ts';
import { cleanUp } from '../support/cleanup.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type Space } from '../support/kube.ts';
import {
  auto,
  configMap,
  deployment,
  secret,
  usingEnvFrom,
  usingVolume,
} from '../support/objects/builders.ts';
import { inStep } from '../support/objects/rollouts.ts';
import { RedisProcess } from '../support/redis/redis-process.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import { eventually } from '../support/wait.ts';

/** What everybody who uses the API may rely on: its OpenAPI document, and the problems that it answers with. */
const SEED = 20_261_121;

let space: Space;
let reroll: Reroll;
let operator: AdminApi;
let calls: Calls;
let job: string;
/** As `Last-Event-ID`: before everything that happened. */
let beginning: string;

/** At least two of everything that is listed, so that each list has a second page. */
beforeAll(async () => {
  const cluster = sharedCluster();
  space = await namespace(connect(cluster));
  const another = await namespace(connect(cluster));
  const sources = ['ConfigMap/cm', 'Secret/keys'] as const;
  await space.apply(
    configMap('cm', { v: '1' }),
    secret('keys', { v: '1' }),
    deployment('web', auto(), usingEnvFrom('cm'), usingVolume('Secret/keys')),
    deployment('other', usingEnvFrom('cm')),
  );
  await another.apply(configMap('cm', { v: '1' }));
  [reroll] = await Promise.all([
    startReroll({
      cluster,
      namespaces: [space, another],
      admins: 1,
      flags: ['--attempts=2', '--backoff=50ms'],
      adminFlags: ['--api-requests-per-minute-per-address=1000000'],
    }),
    ensureSchemathesis({ log: console.error }),
  ]);
  const [admin] = reroll.admins;
  if (!admin) throw new Error('expected an admin');
  operator = new AdminApi(admin);
  beginning = await presentEventId(operator);
  await inStep(space, 'Deployment/web', sources);
  for (const source of sources) await space.setData(source, { v: '2' });
  const changes = await eventually(async () => {
    const { items } = await operator.call('listChanges', {});
    return items.length > 1 && items;
  });
  for (const name of ['web', 'other']) job = await addFailingJob(reroll, `Deployment/${space.name}/${name}`);
  for (const reloadsPerMinute of [1_000, null])
    await operator.call('setLimits', { body: { reason: 'a test', concurrency: null, reloadsPerMinute } });
  calls = callsAbout({ namespace: space.name, change: changes[0]?.id ?? '', job });
});

/** A job of a workload that fails however often it is tried; gives its id as the API has it. */
async function addFailingJob({ queues }: Reroll, workload: string): Promise<string> {
  const data = { v: 1, workload, since: 1, more: 'than a job has' } as never;
  const { id = '' } = await queues.reloads.add('foreign', data);
  await eventually(async () => (await queues.reloads.getJobState(id)) === 'failed');
  return `reloads:${id}`;
}

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
  for (const token of Object.values(TOKENS)) expect(text).not.toContain(token);
  return problem;
}

async function codeOf<Id extends OperationId>(api: AdminApi, id: Id, asked: Asked<Id>): Promise<string> {
  return (await problemOf(await api.request(id, asked))).code;
}

interface Sent {
  readonly path?: string | undefined;
  readonly body?: string | undefined;
  /** Default JSON. */
  readonly type?: string;
  readonly key?: string;
}

/** The call of an operation with another path, body, type of the body, or an idempotency key. */
async function send(id: OperationId, { path, body, type, key }: Sent): Promise<Response> {
  const { path: own, method } = operationOf(id);
  const params = Object.entries((calls[id] as { params?: Record<string, string> }).params ?? {});
  const filled = params.reduce((text, [name, value]) => text.replace(`{${name}}`, value), own);
  return await operator.fetch(`/api/v1${path ?? filled}`, {
    method: method.toUpperCase(),
    ...(body === undefined ? {} : { body }),
    headers: {
      authorization: `Bearer ${TOKENS.operator}`,
      ...(takesBody(id) ? { 'content-type': type ?? 'application/json' } : {}),
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
  });
}

const PAUSE = '/queues/reloads/pause';
const documenting = (code: ProblemCode): OperationId[] =>
  OPERATION_IDS.filter((id) => [...COMMON_PROBLEMS, ...operationOf(id).problems].includes(code as never));

function isForStaticTokens(id: OperationId): boolean {
  return ![...WITH_OWN_TOKEN, ...ALL_WITH_OWN_TOKEN].some((each) => each === id);
}

/** One for each way in which a request can be wrong; schemathesis finds for each operation that it refuses what is. */
const BAD_REQUESTS: readonly (readonly [path: string, at: string, expected: string, body?: string])[] = [
  ['/changes?limit=0', 'query.limit', 'expected at least 1'],
  ['/changes?limit=1&limit=2', 'query.limit', 'expected a number, given no number'],
  ['/changes?limits=1', 'query', 'nothing else than documented, given "limits"'],
  ['/changes?cursor=bm9uZQ', 'query.cursor', '`next` of the page before'],
  ['/changes?since=yesterday', 'query.since', 'expected a time in UTC, e.g. 2026-11-21T15:00:00Z'],
  [
    '/changes?source=Secret/db',
    'query.source',
    'expected <kind>/<namespace>/<name> of a source, e.g. Secret/shop/db',
  ],
  ['/workloads/Job/shop/..%2Fweb', 'path.name', "expected an object's name"],
  ['/status?verbose', 'query', 'no parameters'],
  ['/jobs/reloads:wait', 'path.id', 'expected <queue>:<number of the job>, e.g. reloads:1234'],
  [PAUSE, 'body.reason', 'expected at least 1 character', '{"reason":" "}'],
  [PAUSE, 'body', 'nothing else than documented, given "more"', '{"reason":"x","more":1}'],
  [PAUSE, 'body', 'JSON', '{"reason":'],
  [PAUSE, 'body', 'JSON', ''],
];

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
  });

  it.each(BAD_REQUESTS)('InvalidRequest, to %s: %s', async (path, at, expected, body) => {
    const id = body === undefined ? 'listChanges' : 'pauseQueue';
    const { code, errors } = await problemOf(await send(id, { path, body }));
    expect(code).toBe('InvalidRequest');
    expect(errors).toContainEqual({ path: at, expected });
  });

  it('NotFound, by every operation about what is not there', async () => {
    for (const id of documenting('NotFound').filter(isForStaticTokens))
      expect(await codeOf(operator, id, callsAbout(NOWHERE)[id]), id).toBe('NotFound');
  });

  it('NotFound, for a path of which the API has no operation', async () => {
    for (const path of ['/api/v1', '/api/v1/nowhere', '/nowhere', '/api/v1/changes/', '/api/v1/Changes'])
      expect((await problemOf(await operator.fetch(path))).code, path).toBe('NotFound');
  });

  it('Unauthenticated to a token that nobody knows, Forbidden to who may only read, MethodNotAllowed with the methods', async () => {
    const guessed = await operator.request('listQueues', { token: 'guessed' });
    expect(guessed.headers.get('www-authenticate')).toBe('Bearer realm="reroll"');
    expect((await problemOf(guessed)).code).toBe('Unauthenticated');
    expect(await codeOf(operator.as(TOKENS.reader), 'setLimits', calls.setLimits)).toBe('Forbidden');
    const other = await operator.fetch('/api/v1/limits', { method: 'PATCH' });
    expect(other.headers.get('allow')?.split(', ').sort()).toEqual(['GET', 'PUT']);
    expect((await problemOf(other)).code).toBe('MethodNotAllowed');
  });

  it('TooLarge to more than 64 KiB, and UnsupportedMediaType to what is not said to be JSON, by every write', async () => {
    const body = JSON.stringify({ reason: 'x'.repeat(65_536) });
    for (const id of OPERATION_IDS.filter(takesBody)) {
      expect((await problemOf(await send(id, { body }))).code, id).toBe('TooLarge');
      for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp']) {
        const response = await send(id, { body: '{"reason":"x"}', type });
        expect((await problemOf(response)).code, type).toBe('UnsupportedMediaType');
      }
    }
  });

  it('IdempotencyMismatch to a key that was used for another reason, Conflict to one whose write never came to its end', async () => {
    const { redis, catalog } = reroll;
    // Those of a bulk request are of each object.
    const bulk = (id: OperationId): boolean => BULK.some((each) => each === id);
    expect(documenting('IdempotencyMismatch')).toEqual(documenting('Conflict').filter((id) => !bulk(id)));
    // A job that was tried again is not there to be tried until it has failed.
    const writes = documenting('IdempotencyMismatch').filter(
      (id) => id !== 'retryJob' && isForStaticTokens(id),
    );
    const bodyOf = (id: OperationId): { reason: string } => calls[id].body as { reason: string };
    for (const id of writes) {
      const first = await send(id, { key: id, body: JSON.stringify(bodyOf(id)) });
      expect(first.status, await first.text()).toBe(operationOf(id).status);
      const other = JSON.stringify({ ...bodyOf(id), reason: 'another reason' });
      expect((await problemOf(await send(id, { key: id, body: other }))).code).toBe('IdempotencyMismatch');
      const long = await problemOf(await send(id, { key: 'x'.repeat(129), body: other }));
      expect(long.errors?.map(({ path }) => path)).toEqual(['header.Idempotency-Key']);
    }
    for (const name of await redis.keys(`${catalog.keys.idempotency}*`)) {
      const { answer: _answer, ...underWay } = JSON.parse((await redis.get(name)) ?? '{}') as {
        answer: unknown;
      };
      await redis.set(name, JSON.stringify(underWay));
    }
    // Each waits a while for the other to come to its end.
    const again = writes.map(async (id) => {
      const answer = await send(id, { key: id, body: JSON.stringify(bodyOf(id)) });
      expect((await problemOf(answer)).code, id).toBe('Conflict');
    });
    await Promise.all(again);
  });

  it('TooManyRequests to callers and addresses that ask too often, Unavailable when Redis is away, by every operation', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'reroll-e2e-redis-'));
    cleanUp(() => rmSync(folder, { recursive: true, force: true }));
    const redis = await RedisProcess.start({ folder, config: () => [] });
    const hasty = { ...OPERATOR, name: 'hasty', token: 'token-of-the-hasty' };
    const most = 60;
    const limits = [`--api-requests-per-minute=${most}`, `--api-requests-per-minute-per-address=${most}`];
    const tokens = `--static-tokens-file=${tokensFile([OPERATOR, READER, hasty])}`;
    const admin = reroll.start('admin', [...limits, tokens, '--api-trusted-proxies=127.0.0.0/8,::1'], {
      REDIS_URL: `redis://${redis.address}`,
    });
    await admin.ready();
    const api = new AdminApi(admin);
    const everyAnswerIs = async (code: ProblemCode, who: AdminApi, but?: OperationId): Promise<void> => {
      for (const id of OPERATION_IDS.filter((each) => each !== but)) {
        const response = await who.request(id, calls[id]);
        expect(Number(response.headers.get('retry-after')), id).toBeGreaterThan(0);
        expect((await problemOf(response)).code, id).toBe(code);
      }
    };
    const guess = async (forwarded: string): Promise<number> => {
      const asked = { token: 'guessed', headers: { 'X-Forwarded-For': forwarded } };
      return (await api.request('listQueues', asked)).status;
    };
    for (let count = 0; count < most; count += 1) {
      await api.as(hasty.token).request('getLimits');
      expect(await guess('10.0.0.1')).toBe(401);
    }
    await everyAnswerIs('TooManyRequests', api.as(hasty.token));
    expect([await guess('10.0.0.2, 10.0.0.1'), await guess('10.0.0.1, 10.0.0.2')]).toEqual([429, 401]);

    await redis.kill();
    const status = await eventually(async () => {
      const answer = await api.as(TOKENS.reader).call('getStatus');
      return !answer.redis.ok && answer;
    });
    expect(status).toMatchObject({ processes: [], history: null });
    expect(status.warnings).toEqual(['Redis does not respond, so nothing else is known.']);
    await everyAnswerIs('Unavailable', api, 'getStatus');
    await admin.stop();
  });
});

it(`the OpenAPI document is what the API does, whatever it is sent (schemathesis, seed ${SEED})`, async () => {
  const document = (await (await operator.fetch('/api/openapi.json')).json()) as OpenApiDocument;
  const result = await runSchemathesis({
    document: withExamples(document, await examples()),
    url: `${await reroll.admins[0]?.apiUrl()}/api/v1`,
    token: TOKENS.operator,
    seed: SEED,
    streams: { streamEvents: { 'Last-Event-ID': beginning } },
    // A workload and a source of two namespaces; an end that is over.
    refusals: {
      explain: [400],
      freezeWorkload: [400],
      freezeNamespace: [400],
      freezeAll: [400],
      bulkFreeze: [400],
      bulkApprove: [400],
    },
    log: console.error,
  });
  expect(result.ok, result.output).toBe(true);
  // Whatever is only ever refused shows nothing.
  const answered = OPERATION_IDS.filter(isForStaticTokens).map(
    (id) => [id, statusesOf(id, result.answers)] as const,
  );
  for (const [id, statuses] of answered) {
    const { status, params, query, body } = operationOf(id);
    const bad = (params ?? query ?? body) ? [400] : [];
    // With a static token nobody can be asked for pods, and who has none is tried only where one is served: see `consumers.spec.ts`.
    const served = id === 'getConsumers' ? [403] : [status, 401];
    expect([...statuses], id).toEqual(expect.arrayContaining([...served, ...bad]));
  }
});

/** What is there, and the one cursor of each list that is known. */
async function examples(): Promise<Parameters<typeof withExamples>[1]> {
  const { getChange, getSource } = calls;
  const { name } = space;
  const lists = OPERATION_IDS.filter(
    (id) => operationOf(id).query && 'cursor' in (operationOf(id).query?.shape ?? {}),
  );
  const cursors = lists.map(async (id) => {
    const answer = await operator.request(id, { query: { limit: 1 } } as Asked<typeof id>);
    const { next } = (await answer.json()) as { next: string | null };
    if (next === null) throw new Error(`expected more than one entry of ${id}`);
    return [`${id}.cursor`, [next]] as const;
  });
  return {
    schemas: {
      NamespaceName: name,
      ObjectName: 'web',
      WorkloadKey: `Deployment/${name}/web`,
      SourceKey: `Secret/${name}/keys`,
      PreviewRequest: { of: 'source', source: getSource.params },
      BulkReload: calls.bulkReload.body,
      BulkFreeze: calls.bulkFreeze.body,
      BulkUnfreeze: calls.bulkUnfreeze.body,
      BulkApprove: calls.bulkApprove.body,
      BulkRetry: calls.bulkRetry.body,
    },
    parameters: {
      'getChange.id': getChange.params?.id,
      'getJob.id': job,
      'retryJob.id': job,
      'getWorkload.kind': 'Deployment',
      'reloadWorkload.kind': 'Deployment',
      'getSource.kind': 'Secret',
      'getSource.name': 'keys',
      'getConsumers.kind': 'Secret',
      'getConsumers.name': 'keys',
      'getWaves.kind': 'Secret',
      'getWaves.name': 'keys',
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
