import { KubeError } from '@reroll/kube/client/errors';
import { describe, expect, it } from 'vitest';
import { NamespaceHoldsReader } from './namespace-holds.ts';

function reader(answer: (path: string) => Record<string, string>) {
  const get = async (path: string) => ({ body: { metadata: { annotations: answer(path) } } }) as never;
  return new NamespaceHoldsReader({ get }, 'reroll');
}

const refused = (status: number) => (): never => {
  throw new KubeError({ code: 'KUBE_API', status, reason: undefined, retryable: status >= 500 });
};

describe('what annotations of Namespaces hold', () => {
  it('is read from the one of the workload, and that of the installation', async () => {
    const holds = reader((path) => ({ 'reroll.dev/window': path }));
    expect(await holds.of('shop')).toEqual({
      namespace: { 'reroll.dev/window': '/api/v1/namespaces/shop' },
      installation: { 'reroll.dev/window': '/api/v1/namespaces/reroll' },
    });
  });

  it.each([403, 503])('is not known if the answer is %d', async (status) => {
    const holds = reader(refused(status));
    expect(await holds.of('shop')).toEqual({});
    expect(await holds.freeze()).toBeUndefined();
  });

  it('is not asked for again for two seconds, also if it was refused', async () => {
    const asked: string[] = [];
    const holds = reader((path) => {
      asked.push(path);
      return refused(403)();
    });
    await Promise.all([holds.of('shop'), holds.of('shop'), holds.freeze()]);
    await holds.of('shop');
    expect(asked).toEqual(['/api/v1/namespaces/shop', '/api/v1/namespaces/reroll']);
  });

  it('is nothing in a Namespace that does not exist', async () => {
    expect(await reader(refused(404)).of('shop')).toEqual({ namespace: {}, installation: {} });
  });
});

it.each([
  [{}, null],
  [{ 'reroll.dev/freeze-all': '; audit' }, 'The installation is frozen until somebody ends it: audit'],
  [{ 'reroll.dev/freeze-all': '2020-01-01T00:00:00Z' }, null],
])('a freeze of the installation by %j', async (annotations, detail) => {
  expect(await reader(() => annotations).freeze()).toBe(detail);
});
