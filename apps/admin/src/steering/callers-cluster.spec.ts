import { KubeError } from '@reroll/kube/client/errors';
import { MERGE_PATCH, type KubeClient } from '@reroll/kube/client/connection';
import { describe, expect, it } from 'vitest';
import { CallersCluster, takesClusterTokens } from './callers-cluster.ts';

const PATCH = {
  path: '/apis/apps/v1/namespaces/shop/deployments/web',
  annotations: { 'reroll.dev/freeze': '; a test' },
  command: 'kubectl reroll freeze deployment/web -n shop --reason TEXT',
};

/** A cluster that answers a patch with this error, and what was sent to it. */
function cluster(error?: Error, auth: 'kubernetes' | 'static' = 'kubernetes') {
  const sent: unknown[] = [];
  let open = 0;
  const as = (token: string): KubeClient => {
    open += 1;
    const client = {
      async patch(path: string, body: unknown, { contentType }: { contentType: string }): Promise<object> {
        sent.push({ token, path, body, contentType });
        if (error) throw error;
        return {};
      },
      async close(): Promise<void> {
        open -= 1;
      },
    };
    return client as unknown as KubeClient;
  };
  return { cluster: new CallersCluster({ as }, { auth }), sent, openClients: () => open };
}

function refusal(status: number, reason: string): KubeError {
  return new KubeError({ code: 'KUBE_API', status, reason, retryable: status >= 500 });
}

const REQUEST = { headers: { authorization: 'Bearer token-of-ann' } };

describe('a write as the caller', () => {
  it('is one patch with their token, and nothing stays open', async () => {
    const { cluster: callers, sent, openClients } = cluster();
    await callers.annotate(REQUEST, PATCH);
    const { path, annotations } = PATCH;
    const body = { metadata: { annotations } };
    expect(sent).toEqual([{ token: 'token-of-ann', path, body, contentType: MERGE_PATCH }]);
    expect(openClients()).toBe(0);
  });

  it.each([
    ['an unknown token', refusal(401, 'Unauthorized'), 'Forbidden', PATCH.command],
    ['a caller without the right', refusal(403, 'Forbidden'), 'Forbidden', 'expected the right to patch'],
    ['an object that is not there', refusal(404, 'NotFound'), 'NotFound', 'Not found'],
    [
      'an annotation that is refused',
      refusal(422, 'Invalid'),
      'Conflict',
      'refused the annotation (Invalid)',
    ],
  ])('tells of %s', async (_what, error, code, message) => {
    const { cluster: callers, openClients } = cluster(error);
    await expect(callers.annotate(REQUEST, PATCH)).rejects.toMatchObject({
      code,
      message: expect.stringContaining(message),
    });
    expect(openClients()).toBe(0);
  });

  it('does not take an API server that fails for a refusal', async () => {
    const error = refusal(503, 'ServiceUnavailable');
    await expect(cluster(error).cluster.annotate(REQUEST, PATCH)).rejects.toBe(error);
  });

  it.each([
    ['a static token', 'static', REQUEST],
    ['no token', 'kubernetes', { headers: {} }],
  ] as const)('sends nothing for %s, and names the command that works', async (_what, auth, request) => {
    const { cluster: callers, sent } = cluster(undefined, auth);
    await expect(callers.annotate(request, PATCH)).rejects.toMatchObject({
      code: 'Forbidden',
      message: expect.stringContaining(PATCH.command),
    });
    expect(sent).toEqual([]);
  });
});

it.each([
  ['kubernetes', true, true],
  ['kubernetes', false, false],
  ['static', true, false],
] as const)(
  '--auth=%s, --api-accept-api-server-tokens=%s: %s',
  (auth, apiAcceptApiServerTokens, expected) => {
    expect(takesClusterTokens({ auth, apiAcceptApiServerTokens })).toBe(expected);
  },
);

it('resumes a change by what it reads as the caller', async () => {
  const sent: unknown[] = [];
  const client = {
    get: async () => ({ body: { metadata: { resourceVersion: '7' } } }),
    patch: async (path: string, body: unknown) => void sent.push([path, body]),
    close: async () => undefined,
  };
  const callers = new CallersCluster({ as: () => client as unknown as KubeClient }, { auth: 'kubernetes' });
  const path = '/api/v1/namespaces/shop/secrets/db';
  await callers.resume(REQUEST, { path, reason: 'known', command: '' });
  const metadata = { resourceVersion: '7', annotations: { 'reroll.dev/resumed': '7; known' } };
  expect(sent).toEqual([[path, { metadata }]]);
});
