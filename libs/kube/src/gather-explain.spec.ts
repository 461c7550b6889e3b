import { describe, expect, it } from 'vitest';
import { DEFAULT_ANNOTATION_KEYS as KEYS } from '@reroll/core/annotations/annotation-keys';
import {
  METADATA_ONLY,
  METADATA_ONLY_LIST,
  type KubeClient,
  type RequestOptions,
} from './client/connection.ts';
import { apiError } from './client/errors.ts';
import { ExplainGatherer } from './gather-explain.ts';

/** What a real server answers to whoever reads all is `e2e/admin/explain.spec.ts`; here it refuses. */
const decision = { keys: KEYS, autoReloadAll: false, ignoredWorkloadTypes: [] };

interface Call {
  readonly path: string;
  readonly accept: string | undefined;
}

/** Answers these paths, refuses the others with a status. */
function server(answers: Readonly<Record<string, unknown>>, status: number) {
  const calls: Call[] = [];
  const client: Pick<KubeClient, 'get'> = {
    get: async <T>(path: string, options?: RequestOptions) => {
      calls.push({ path, accept: options?.accept });
      const body = answers[path];
      if (body !== undefined) return { status: 200, body: body as T, date: undefined };
      throw apiError({ request: `GET ${path}`, status, body: undefined, retryAfter: undefined });
    },
  };
  return { calls, gather: new ExplainGatherer(client, decision) };
}

function object(name: string, more: object = {}): { readonly metadata: object } {
  return { metadata: { name, namespace: 'shop', uid: name, resourceVersion: '7' }, ...more };
}

const CORE = '/api/v1/namespaces/shop';
const APPS = '/apis/apps/v1/namespaces/shop';
const ROLLOUTS = '/apis/argoproj.io/v1alpha1/namespaces/shop/rollouts';
const spec = {
  template: { spec: { containers: [{ name: 'app', envFrom: [{ secretRef: { name: 'db' } }] }] } },
};
const following = { workloadRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' } };

describe('a source', () => {
  it('is read without its data, whatever its kind', async () => {
    const { calls, gather } = server({}, 404);
    const keys = ['ConfigMap/shop/a', 'Secret/shop/a', 'SecretProviderClass/shop/a'] as const;
    for (const key of keys) expect(await gather.source(key)).toEqual({ key, row: undefined });
    const classes = '/apis/secrets-store.csi.x-k8s.io/v1/namespaces/shop/secretproviderclasses/a';
    expect(calls).toEqual(
      [`${CORE}/configmaps/a`, `${CORE}/secrets/a`, classes].map((path) => ({
        path,
        accept: METADATA_ONLY,
      })),
    );
  });

  it('that may not be read is taken to exist, and marked', async () => {
    const { gather } = server({}, 403);
    const found = await gather.source('Secret/shop/a');
    expect(found).toMatchObject({ isUnreadable: true, row: { exists: true, annotations: {} } });
  });

  it('that cannot be asked for is an error, not an answer', async () => {
    const { gather } = server({}, 503);
    await expect(gather.source('Secret/shop/a')).rejects.toMatchObject({ status: 503 });
    await expect(gather.sources('shop', ['Secret'])).rejects.toMatchObject({ status: 503 });
    await expect(gather.workloads('shop')).rejects.toMatchObject({ status: 503 });
    await expect(gather.workload('Deployment/shop/web')).rejects.toMatchObject({ status: 503 });
  });
});

describe('a workload', () => {
  it('that does not exist is null; one that may not be read is an error', async () => {
    expect(await server({}, 404).gather.workload('Deployment/shop/web')).toBeNull();
    const { gather } = server({}, 403);
    await expect(gather.workload('Deployment/shop/web')).rejects.toMatchObject({ status: 403 });
  });

  it('without a pod template of its own has that of its Deployment', async () => {
    const { gather } = server(
      {
        [`${ROLLOUTS}/roll`]: object('roll', { spec: following }),
        [`${APPS}/deployments/web`]: object('web', { spec }),
      },
      404,
    );
    expect(await gather.workload('Rollout/shop/roll')).toMatchObject({
      key: 'Rollout/shop/roll',
      row: { uses: ['Secret/db'], templateOwner: { key: 'Deployment/shop/web' } },
      podSpec: spec.template.spec,
    });
  });

  it('with the pod template of another one has the excess of that one', async () => {
    const annotations = { [KEYS.secretReload]: 'a,'.repeat(1_001) };
    const owner = object('web', { metadata: { ...object('web').metadata, annotations }, spec });
    const { gather } = server(
      {
        [`${ROLLOUTS}/roll`]: object('roll', { spec: following }),
        [`${APPS}/deployments/web`]: owner,
      },
      404,
    );
    const excess = { limit: 'listWords', key: KEYS.secretReload, most: 1_000 };
    expect(await gather.workload('Rollout/shop/roll')).toMatchObject({
      ownerExcess: excess,
      row: { excess },
    });
  });
});

describe('lists', () => {
  const list = (...items: object[]): object => ({ metadata: { resourceVersion: '9' }, items });

  it('of workloads: all kinds that may be listed, and those that may not', async () => {
    const { gather } = server(
      {
        [`${APPS}/deployments`]: list(object('web', { spec })),
        [ROLLOUTS]: list(object('roll', { spec: following })),
      },
      403,
    );
    const { workloads, unread } = await gather.workloads('shop');
    expect(workloads.map(({ key, row }) => [key, row.uses])).toEqual([
      ['Deployment/shop/web', ['Secret/db']],
      ['Rollout/shop/roll', ['Secret/db']],
    ]);
    expect(unread).toEqual(['StatefulSet', 'DaemonSet', 'CronJob', 'Job', 'DeploymentConfig']);
  });

  it('of workloads: a kind that the server does not have has none', async () => {
    expect(await server({}, 404).gather.workloads('shop')).toEqual({ workloads: [], unread: [] });
  });

  it('of sources: metadata alone', async () => {
    const { calls, gather } = server({ [`${CORE}/configmaps`]: list(object('a')) }, 403);
    const { sources, unread } = await gather.sources('shop', ['ConfigMap', 'Secret']);
    expect(sources).toMatchObject([{ key: 'ConfigMap/shop/a', row: { hash: '', rv: '7', exists: true } }]);
    expect(unread).toEqual(['Secret']);
    expect(calls.map(({ accept }) => accept)).toEqual([METADATA_ONLY_LIST, METADATA_ONLY_LIST]);
  });
});
