import { beforeAll, describe, expect, it } from 'vitest';
import type { OperationId } from '../libs/shared/src/api/operations.ts';
import { AdminApi, type Asked } from './support/admin-api.ts';
import { caller, LIST_DEPLOYMENTS, OPERATOR_RULES, PATCH_DEPLOYMENTS, VIEWER } from './support/callers.ts';
import { startOwnCluster } from './support/cluster.ts';
import { connect, namespace } from './support/kube.ts';
import { startReroll } from './support/reroll.ts';
import { eventually } from './support/wait.ts';
import type { Cluster } from '../tools/cluster/src/cluster.ts';

/** One of its own: its API server is taken away. */
let cluster: Cluster;
let api: AdminApi;
const tokens: Record<string, string> = {};

beforeAll(async () => {
  cluster = await startOwnCluster();
  const space = await namespace(connect(cluster));
  const rights = {
    nobody: {},
    viewer: { cluster: VIEWER, namespaced: [LIST_DEPLOYMENTS] },
    clusterViewer: { cluster: [...VIEWER, LIST_DEPLOYMENTS] },
    namespacedOperator: { cluster: OPERATOR_RULES, namespaced: [LIST_DEPLOYMENTS, PATCH_DEPLOYMENTS] },
    operator: { cluster: [...OPERATOR_RULES, LIST_DEPLOYMENTS, PATCH_DEPLOYMENTS] },
  };
  for (const [name, given] of Object.entries(rights))
    tokens[name] = await caller(space, name.toLowerCase(), given);
  const reroll = await startReroll({
    cluster,
    namespaces: [space],
    watchers: 0,
    workers: 0,
    admins: 1,
    adminFlags: ['--auth=kubernetes'],
  });
  const [admin] = reroll.admins;
  if (!admin) throw new Error('expected an admin');
  api = new AdminApi(admin, '');
});

/** `ok`, or the code of the problem. */
async function answer<Id extends OperationId>(who: string, id: Id, asked: Asked<Id> = {}): Promise<string> {
  const response = await api.as(tokens[who] ?? who).request(id, asked);
  const text = await response.text();
  return response.ok ? 'ok' : (JSON.parse(text) as { code: string }).code;
}

describe('who may use the API', () => {
  it.each([
    ['a token that nobody issued', 'made-up', 'Unauthenticated'],
    ['a service account without rights', 'nobody', 'Forbidden'],
    ['a viewer of one namespace', 'viewer', 'ok'],
    ['a viewer of the cluster', 'clusterViewer', 'ok'],
    ['an operator', 'operator', 'ok'],
  ])('%s', async (_sentence, who, expected) => {
    expect(await answer(who, 'listQueues')).toBe(expected);
  });

  it('is what RBAC says at the time: a right that is given counts within seconds', async () => {
    expect(await answer('nobody', 'listQueues')).toBe('Forbidden');
    const client = connect(cluster);
    const rbac = '/apis/rbac.authorization.k8s.io/v1';
    await client.post(`${rbac}/clusterroles`, {
      metadata: { name: 'late' },
      rules: [{ nonResourceURLs: ['/reroll/api/v1/queues'], verbs: ['get'] }],
    });
    await client.post(`${rbac}/clusterrolebindings`, {
      metadata: { name: 'late' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'late' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'system:serviceaccounts' }],
    });
    await eventually(async () => (await answer('nobody', 'listQueues')) === 'ok', {
      what: 'the right to count',
    });
  });
});

describe('without an API server', () => {
  it('who was let in is known for some seconds, then nobody is told yes or no until it is back', async () => {
    expect(await answer('operator', 'listQueues')).toBe('ok');
    await cluster.kill('apiserver');
    expect(await answer('another', 'listQueues')).toBe('Unavailable');
    const answers = new Set<string>();
    await eventually(async () => answers.add(await answer('operator', 'listQueues')).has('Unavailable'), {
      what: 'the answer to be forgotten',
    });
    answers.delete('ok');
    expect([...answers]).toEqual(['Unavailable']);
    expect(await answer('nobody', 'listQueues')).toBe('Unavailable');
    await cluster.restart('apiserver');
    await eventually(async () => (await answer('operator', 'listQueues')) === 'ok', {
      what: 'the operator to be let in again',
    });
    expect(await answer('another', 'listQueues')).toBe('Unauthenticated');
  });
});
