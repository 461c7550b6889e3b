import { beforeAll, describe, expect, it } from 'vitest';
import type { Cluster } from '../../tools/cluster/src/cluster.ts';
import { OPERATIONS, type OperationId } from '@reroll/shared/api/operations';
import { AdminApi, type Asked } from '../support/admin/admin-api.ts';
import { auto, configMap, deployment, usingEnvFrom } from '../support/objects/builders.ts';
import {
  caller,
  LIST_DEPLOYMENTS,
  OPERATOR_RULES,
  PATCH_DEPLOYMENTS,
  VIEWER,
} from '../support/admin/callers.ts';
import { startOwnCluster } from '../support/cluster.ts';
import { EventReader } from '../support/admin/event-reader.ts';
import { connect, namespace, type Space } from '../support/kube.ts';
import { ISSUER, tokenOf, userName } from '../support/admin/service-account-tokens.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import { eventually } from '../support/wait.ts';

const BODY = { reason: 'a test' };
const WHO = ['nobody', 'viewer', 'clusterViewer', 'reader', 'namespacedOperator', 'operator'] as const;
type Who = (typeof WHO)[number];

/** One of its own: its API server and its Redis are taken away. */
let cluster: Cluster;
let reroll: Reroll;
let api: AdminApi;
let space: Space;
let elsewhere: Space;
const tokens: Record<string, string> = {};

beforeAll(async () => {
  cluster = await startOwnCluster();
  const client = connect(cluster);
  space = await namespace(client);
  elsewhere = await namespace(client);
  for (const each of [space, elsewhere])
    await each.apply(configMap('cm', { v: '1' }), deployment('web', auto(), usingEnvFrom('cm')));
  const rights: Record<Who, Parameters<typeof caller>[2]> = {
    nobody: {},
    viewer: { cluster: VIEWER, namespaced: [LIST_DEPLOYMENTS] },
    clusterViewer: { cluster: [...VIEWER, LIST_DEPLOYMENTS] },
    // Of the API everything, of workloads nothing but to see them.
    reader: { cluster: [...OPERATOR_RULES, LIST_DEPLOYMENTS] },
    namespacedOperator: { cluster: OPERATOR_RULES, namespaced: [LIST_DEPLOYMENTS, PATCH_DEPLOYMENTS] },
    operator: { cluster: [...OPERATOR_RULES, LIST_DEPLOYMENTS, PATCH_DEPLOYMENTS] },
  };
  for (const who of WHO) tokens[who] = await caller(space, who.toLowerCase(), rights[who]);
  reroll = await startReroll({
    cluster,
    namespaces: [space, elsewhere],
    admins: 1,
    adminFlags: ['--auth=kubernetes'],
  });
  const [admin] = reroll.admins;
  if (!admin) throw new Error('expected an admin');
  api = new AdminApi(admin, '');
  // By what it decides is what `explain` goes by.
  await eventually(async () => {
    const { processes } = await api.as(tokens['operator'] ?? '').call('getStatus');
    return processes.some(({ app }) => app === 'worker');
  });
  await eventually(async () => (await reroll.catalog.workloads([keyOf(elsewhere)])).size === 1);
  await eventually(async () => (await reroll.catalog.workloads([keyOf(space)])).size === 1);
});

function keyOf(where: Space): string {
  return `Deployment/${where.name}/web`;
}

function workload(where: Space): { kind: 'Deployment'; namespace: string; name: string } {
  return { kind: 'Deployment', namespace: where.name, name: 'web' };
}

/** `ok`, or the code of the problem. */
async function answer<Id extends OperationId>(who: string, id: Id, asked: Asked<Id> = {}): Promise<string> {
  const response = await api.as(tokens[who] ?? who).request(id, asked);
  if (response.ok) {
    await response.body?.cancel();
    return 'ok';
  }
  return ((await response.json()) as { code: string }).code;
}

/** A request that is as documented, of each operation. */
function requests(): { [Id in OperationId]: Asked<Id> } {
  const source = { kind: 'ConfigMap', namespace: space.name, name: 'cm' } as const;
  const job = { id: 'reloads:4711' };
  return {
    listChanges: {},
    getChange: { params: { id: '1-1' } },
    streamEvents: {},
    listWorkloads: {},
    getWorkload: { params: workload(space) },
    listSources: {},
    getSource: { params: source },
    explain: { query: { workload: keyOf(space), source: `ConfigMap/${space.name}/cm` } },
    preview: { body: { of: 'source', source } },
    listQueues: {},
    pauseQueue: { params: { name: 'resumes' }, body: BODY },
    resumeQueue: { params: { name: 'resumes' }, body: BODY },
    listJobs: {},
    getJob: { params: job },
    retryJob: { params: job, body: BODY },
    reloadWorkload: { params: workload(space), body: BODY },
    getLimits: {},
    setLimits: { body: { ...BODY, concurrency: null, reloadsPerMinute: null } },
    listAudit: {},
    getStatus: {},
  };
}

/** What they are told where it is not `ok`: there is no such change and no such job. */
const ABSENT: Partial<Record<OperationId, string>> = {
  getChange: 'NotFound',
  getJob: 'NotFound',
  retryJob: 'NotFound',
};
const FORBIDDEN = ['pauseQueue', 'resumeQueue', 'retryJob', 'reloadWorkload', 'setLimits'] as const;
const EVERYBODYS = ['pauseQueue', 'resumeQueue', 'setLimits'] as const;

function all(told: string): Record<string, string> {
  return Object.fromEntries(Object.keys(OPERATIONS).map((id) => [id, told]));
}

function except(...ids: readonly OperationId[]): Record<string, string> {
  return { ...all('ok'), ...ABSENT, ...Object.fromEntries(ids.map((id) => [id, 'Forbidden'])) };
}

describe('who may do what', () => {
  it.each<[string, string, Record<string, string>]>([
    ['a token that nobody issued: nothing', 'made-up', all('Unauthenticated')],
    ['a service account without rights: nothing', 'nobody', all('Forbidden')],
    ['a viewer of one namespace: read', 'viewer', except(...FORBIDDEN)],
    ['a viewer of the cluster: read', 'clusterViewer', except(...FORBIDDEN)],
    ['who may use the whole API, and patch nothing: read', 'reader', except('reloadWorkload', ...EVERYBODYS)],
    [
      'an operator of one namespace: reload there, and nothing that concerns everybody',
      'namespacedOperator',
      except(...EVERYBODYS),
    ],
    ['an operator: everything', 'operator', except()],
  ])('%s', async (_sentence, who, expected) => {
    const asked = requests();
    const told: Record<string, string> = {};
    for (const id of Object.keys(OPERATIONS) as OperationId[])
      told[id] = await answer(who, id, asked[id] as Asked<typeof id>);
    expect(told).toEqual(expected);
  });

  it.each<[string, Who, string]>([
    ['does not exist for an operator of another one', 'namespacedOperator', 'NotFound'],
    ['is seen by a viewer of the cluster', 'clusterViewer', 'Forbidden'],
    ['is reloaded by an operator', 'operator', 'ok'],
  ])('a workload of a namespace %s', async (_sentence, who, reload) => {
    const of = { params: workload(elsewhere) };
    expect(await answer(who, 'getWorkload', of)).toBe(reload === 'NotFound' ? 'NotFound' : 'ok');
    expect(await answer(who, 'reloadWorkload', { ...of, body: BODY })).toBe(reload);
  });

  it('is told to the caller, so that nobody is offered what would be refused', async () => {
    const told = async (who: Who): Promise<object> => {
      const { caller: seen } = await api.as(tokens[who]).call('getStatus');
      return { ...seen, name: seen.name.replace(`system:serviceaccount:${space.name}:`, '') };
    };
    expect(await Promise.all((['viewer', 'namespacedOperator', 'operator'] as const).map(told))).toEqual([
      { name: 'viewer', clusterWide: false, mayReload: false, maySteer: false },
      { name: 'namespacedoperator', clusterWide: false, mayReload: true, maySteer: false },
      { name: 'operator', clusterWide: true, mayReload: true, maySteer: true },
    ]);
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

describe('a token for the API server', () => {
  const told = async (admin: AdminApi, token: string): Promise<unknown> => {
    const response = await admin.as(token).request('getStatus');
    const { caller: seen, detail } = (await response.json()) as {
      caller?: { name: string };
      detail?: string;
    };
    return seen?.name ?? [response.status, detail];
  };
  const REFUSED = [
    401,
    'expected a token for the audience reroll (kubectl create token NAME --audience=reroll); the API server knows no such token',
  ];

  it('is refused, and it is said which one is expected; one for the admin is accepted', async () => {
    for (const audience of [ISSUER, 'vault'])
      expect(await told(api, await tokenOf(space, 'operator', audience))).toEqual(REFUSED);
    expect(await told(api, await tokenOf(space, 'operator'))).toBe(userName(space, 'operator'));
  });

  it('is accepted where that is allowed, and one for anything else is not', async () => {
    const admin = reroll.start('admin', ['--auth=kubernetes', '--api-accept-api-server-tokens']);
    const lenient = new AdminApi(admin, '');
    for (const audience of [ISSUER, 'reroll'])
      expect(await told(lenient, await tokenOf(space, 'operator', audience))).toBe(
        userName(space, 'operator'),
      );
    expect(await told(lenient, await tokenOf(space, 'operator', 'vault'))).toEqual([
      401,
      'the API server does not know the token',
    ]);
    await admin.stop();
  });

  it('is one for the admin if that expects another audience', async () => {
    const admin = reroll.start('admin', ['--auth=kubernetes', '--api-audience=vault']);
    const other = new AdminApi(admin, '');
    expect(await told(other, await tokenOf(space, 'operator', 'vault'))).toBe(userName(space, 'operator'));
    expect(await told(other, await tokenOf(space, 'operator'))).toEqual([
      401,
      expect.stringContaining('--audience=vault'),
    ]);
    await admin.stop();
  });
});

describe('a right to the API that is taken away', () => {
  it('ends what its holder may ask for within seconds, and the stream that they have', async () => {
    const token = await caller(space, 'leaver', { cluster: VIEWER, namespaced: [LIST_DEPLOYMENTS] });
    const reader = await EventReader.open(api.as(token));
    const staying = await EventReader.open(api.as(tokens['viewer']));
    const binding = `/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/${space.name}-leaver`;
    await connect(cluster).request({ method: 'DELETE', path: binding });
    await eventually(async () => (await answer(token, 'listJobs')) === 'Forbidden', {
      what: 'the right to be gone',
    });
    await reader.ended;
    expect(await answer(token, 'streamEvents')).toBe('Forbidden');
    expect(staying.isEnded).toBe(false);
  });
});

describe('without a Redis', () => {
  it('every request is a 503 but that of the status, which says why, until it is back', async () => {
    await cluster.kill('redis');
    await eventually(async () => (await answer('operator', 'listQueues')) === 'Unavailable', {
      what: 'Redis to be missed',
    });
    const asked = requests();
    for (const id of ['listChanges', 'getWorkload', 'reloadWorkload', 'setLimits', 'listAudit'] as const)
      expect(await answer('operator', id, asked[id] as Asked<typeof id>)).toBe('Unavailable');
    const status = await api.as(tokens['operator']).call('getStatus');
    expect(status).toMatchObject({ redis: { ok: false }, processes: [], history: null });
    expect(status.warnings).toEqual(['Redis does not answer: nothing but this is known.']);
    await cluster.restart('redis');
    await eventually(async () => (await answer('operator', 'listQueues')) === 'ok', {
      what: 'Redis to be found again',
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
    // Who was given a right just before is known for some seconds more.
    await eventually(async () => (await answer('nobody', 'listQueues')) === 'Unavailable', {
      what: 'the other answer to be forgotten',
    });
    await cluster.restart('apiserver');
    await eventually(async () => (await answer('operator', 'listQueues')) === 'ok', {
      what: 'the operator to be let in again',
    });
    expect(await answer('another', 'listQueues')).toBe('Unauthenticated');
  });
});

it('no token is in a log or in Redis', async () => {
  const logs = reroll.logs();
  const audit = JSON.stringify(await reroll.history.latest('audit', 1_000));
  for (const who of WHO) {
    expect(logs).not.toContain(tokens[who]);
    expect(audit).not.toContain(tokens[who]);
  }
});
