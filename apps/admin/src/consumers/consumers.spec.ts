import { describe, expect, it } from 'vitest';
import type { SourceId } from '@reroll/core/model';
import type { KubeClient, RequestOptions } from '@reroll/kube/client/connection';
import { abortedError, apiError } from '@reroll/kube/client/errors';
import { consumers as schema } from '@reroll/shared/api/consumers';
import { CallersCluster } from '../steering/callers-cluster.ts';
import { Consumers, type Asker } from './consumers.ts';

/** What makes a container stale is `libs/core/src/convergence`; here is who is asked, with what, and what becomes of it. */
const DB: SourceId = { kind: 'Secret', namespace: 'shop', name: 'db' };
const PODS = '/api/v1/namespaces/shop/pods';
const SECRET = '/api/v1/namespaces/shop/secrets/db';
const WRITTEN = Date.now() - 3_600_000;
const at = (ms: number): string => new Date(ms).toISOString();
const ann: Asker = {
  name: 'ann',
  request: { headers: { authorization: 'Bearer t' } },
  gone: new AbortController().signal,
};

function pod(name: string, createdAt: number): object {
  const containers = [{ name: 'app', envFrom: [{ secretRef: { name: 'db' } }] }];
  const running = { startedAt: at(createdAt) };
  return {
    metadata: { name, namespace: 'shop', uid: name, resourceVersion: '9', creationTimestamp: at(createdAt) },
    spec: { containers },
    status: { phase: 'Running', containerStatuses: [{ name: 'app', state: { running } }] },
  };
}

const OLD = pod('old', WRITTEN - 60_000);
const NEW = pod('new', WRITTEN + 60_000);
const secret = {
  metadata: {
    ...DB,
    uid: 'db',
    resourceVersion: '5',
    creationTimestamp: at(WRITTEN - 90_000),
    managedFields: [{ time: at(WRITTEN), fieldsV1: { 'f:data': {} } }],
  },
};

type Answer = object | number | ((signal: AbortSignal | undefined) => Promise<never>);

/** An API server that answers these, or with a status. */
function world(
  answers: Readonly<Record<string, Answer>>,
  options: { auth?: 'static'; apiRequestTimeout?: number } = {},
) {
  const tokens: string[] = [];
  const asked: string[] = [];
  let open = 0;
  const get = async <T>(path: string, { signal, query }: RequestOptions = {}) => {
    asked.push(path);
    const given = answers[query?.['continue'] === undefined ? path : `${path} next`] ?? 404;
    if (typeof given === 'function') return await given(signal);
    if (typeof given === 'number')
      throw apiError({ request: `GET ${path}`, status: given, body: { message: 'of the server' } });
    return { status: 200, body: given as T, date: undefined };
  };
  const as = (token: string) => {
    tokens.push(token);
    open += 1;
    return { get, close: async (): Promise<void> => void (open -= 1) } as unknown as KubeClient;
  };
  const { auth, apiRequestTimeout } = { auth: 'kubernetes', apiRequestTimeout: 1_000, ...options } as const;
  const consumers = new Consumers(new CallersCluster({ as }, { auth }), { apiRequestTimeout });
  return { consumers, tokens, asked, open: () => open };
}

const list = (items: readonly object[], more: object = {}): object => ({
  metadata: { resourceVersion: '9', ...more },
  items,
});

function waiting(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) =>
    signal?.addEventListener('abort', () => reject(abortedError('GET pods')), { once: true }),
  );
}

describe('who still has older data', () => {
  it('is asked for with the token of the caller alone, and what is stale comes first', async () => {
    const { consumers, tokens, asked, open } = world({ [PODS]: list([NEW, OLD]), [SECRET]: secret });
    const answer = schema.parse(await consumers.of(DB, ann));
    expect(answer).toEqual({
      source: DB,
      conclusion: '1 container of 1 pod still does.',
      complete: true,
      counts: { stale: 1, unknown: 0, current: 1 },
      items: [
        {
          pod: 'old',
          container: 'app',
          use: 'envFrom',
          state: 'stale',
          since: at(Math.floor(WRITTEN / 1_000) * 1_000),
          why: 'it started before the last write',
        },
        expect.objectContaining({ pod: 'new', state: 'current', since: null }),
      ],
    });
    expect([tokens, asked, open()]).toEqual([['t'], [PODS, SECRET], 0]);
  });

  it('is at most 500 uses, and counts are of all', async () => {
    const pods = Array.from({ length: 600 }, (_, index) => pod(`p${index}`, WRITTEN - 60_000));
    const { consumers } = world({ [PODS]: list(pods), [SECRET]: secret });
    const { items, counts } = await consumers.of(DB, ann);
    expect([items.length, counts.stale]).toEqual([500, 600]);
  });

  it('is not complete if the time is over before the last page of pods', async () => {
    const first = list([OLD], { continue: 'next' });
    const { consumers, open } = world({ [PODS]: first, [`${PODS} next`]: waiting, [SECRET]: secret });
    expect(await consumers.of(DB, ann)).toMatchObject({
      complete: false,
      conclusion: '1 container of 1 pod still does. Not every pod was looked at.',
    });
    expect(open()).toBe(0);
  });

  it('is not known of a source that the caller may not read', async () => {
    const { consumers } = world({ [PODS]: list([OLD]), [SECRET]: 403 });
    expect((await consumers.of(DB, ann)).conclusion).toBe(
      'It is not known of 1 container of 1 pod: you may not read the source.',
    );
  });
});

describe('is refused', () => {
  const otherwise =
    'expected a token for the API server, because this is done with the rights of the caller. An admin takes such tokens with --api-accept-api-server-tokens. Without one, use: kubectl reroll stale --source secret/db -n shop';

  it.each<[string, Partial<Asker>, { auth?: 'static' }]>([
    ['static tokens', {}, { auth: 'static' }],
    ['no token', { request: { headers: {} } }, {}],
  ])('with %s, without a request', async (_, by, options) => {
    const { consumers, tokens } = world({}, options);
    const asked = consumers.of(DB, { ...ann, ...by });
    await expect(asked).rejects.toMatchObject({ code: 'Forbidden', details: { detail: otherwise } });
    expect(tokens).toEqual([]);
  });

  it.each([
    ['a token for the admin alone', 401, 'Forbidden', otherwise],
    ['no right to pods', 403, 'Forbidden', 'expected the right to list pods in the namespace shop'],
  ])('with %s, in our words', async (_, status, code, detail) => {
    const { consumers, open } = world({ [PODS]: status });
    await expect(consumers.of(DB, ann)).rejects.toMatchObject({ code, details: { detail } });
    expect(open()).toBe(0);
  });

  it('an API server that fails, or a caller that is gone, is no empty answer', async () => {
    const failing = world({ [PODS]: 500 });
    await expect(failing.consumers.of(DB, ann)).rejects.toMatchObject({ status: 500 });
    const gone = AbortSignal.timeout(10);
    const silent = world({ [PODS]: waiting });
    await expect(silent.consumers.of(DB, { ...ann, gone })).rejects.toMatchObject({ code: 'KUBE_ABORTED' });
    expect(silent.open()).toBe(0);
  });

  it('while the last request of the caller, or four of others, are under way', async () => {
    const { consumers, tokens } = world({ [PODS]: waiting }, { apiRequestTimeout: 200 });
    const callers = ['ann', 'bob', 'cid', 'dee'].map((name) => consumers.of(DB, { ...ann, name }));
    for (const name of ['ann', 'eve'])
      await expect(consumers.of(DB, { ...ann, name })).rejects.toMatchObject({ code: 'TooManyRequests' });
    expect(tokens).toHaveLength(4);
    await Promise.allSettled(callers);
    expect(await consumers.of(DB, { ...ann, name: 'eve' })).toMatchObject({ complete: false });
  });
});
