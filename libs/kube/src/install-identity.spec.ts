import { expect, it } from 'vitest';
import { KubeError } from './client/errors.ts';
import type { KubeClient } from './client/connection.ts';
import { installIdentity } from './install-identity.ts';

function identityOf(clusterName: string, get: () => Promise<unknown>) {
  const client = { get } as unknown as Pick<KubeClient, 'get'>;
  const { signal } = new AbortController();
  return installIdentity({ client, clusterName, namespace: 'reroll', signal, onRetry: () => undefined });
}

const readable = () => Promise.resolve({ body: { metadata: { uid: 'uid-1' } } });
const forbidden = () =>
  Promise.reject(new KubeError({ code: 'KUBE_API', status: 403, reason: 'Forbidden', retryable: false }));

it('is the uid of kube-system, and the name if there is one', async () => {
  expect(await identityOf('', readable)).toEqual({ cluster: 'uid-1', namespace: 'reroll', uid: 'uid-1' });
  expect(await identityOf('prod', readable)).toEqual({ cluster: 'prod', namespace: 'reroll', uid: 'uid-1' });
});

it('is the name without a uid where kube-system may not be read', async () => {
  expect(await identityOf('prod', forbidden)).toEqual({
    cluster: 'prod',
    namespace: 'reroll',
    uid: undefined,
  });
  await expect(identityOf('', forbidden)).rejects.toMatchObject({ status: 403 });
});
