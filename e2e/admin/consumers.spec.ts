import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, expect, it } from 'vitest';
import { MERGE_PATCH } from '@reroll/kube/client/connection';
import { AdminApi } from '../support/admin/admin-api.ts';
import { caller, LIST_DEPLOYMENTS, LIST_PODS, VIEWER, type Rule } from '../support/admin/callers.ts';
import { AUDIENCE, ISSUER, userName } from '../support/admin/service-account-tokens.ts';
import { AuditLog, requestName } from '../support/audit.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type Manifest, type Space } from '../support/kube.ts';
import { secret } from '../support/objects/builders.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import { eventually } from '../support/wait.ts';

/** What makes a container stale is `libs/core/src/convergence`; here is that the real API server is asked as the caller, and answers. */
const READ_SECRETS: Rule = { apiGroups: [''], resources: ['secrets'], verbs: ['get'] };

let space: Space;
let reroll: Reroll;
let api: AdminApi;
let audit: AuditLog;
let params: { kind: 'Secret'; namespace: string; name: string };

beforeAll(async () => {
  const cluster = sharedCluster();
  space = await namespace(connect(cluster));
  audit = new AuditLog(cluster);
  params = { kind: 'Secret', namespace: space.name, name: 'db' };
  await space.apply(secret('db', { password: 'one' }));
  await startPod('old');
  // The API server dates in seconds.
  await pause(2_000);
  await space.setData('Secret/db', { password: 'two' });
  await pause(2_000);
  await startPod('new');
  const adminFlags = ['--auth=kubernetes'];
  reroll = await startReroll({ cluster, namespaces: [space], workers: 0, admins: 1, adminFlags });
  const [admin] = reroll.admins;
  if (!admin) throw new Error('expected an admin');
  api = new AdminApi(admin);
  const operator = api.as(await tokenWith('operator', [LIST_DEPLOYMENTS]));
  await eventually(async () => (await operator.request('getSource', { params })).status !== 404);
});

/** A pod that no node takes, with the status that a kubelet would write. */
async function startPod(name: string): Promise<void> {
  const container = { name: 'app', image: 'app:1', envFrom: [{ secretRef: { name: 'db' } }] };
  const spec = { containers: [container], nodeSelector: { nowhere: 'true' } };
  await space.apply({ apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec } as Manifest);
  const state = { running: { startedAt: new Date().toISOString().replace(/\.\d+/, '') } };
  const about = { name: 'app', image: 'app:1', imageID: '', ready: true, restartCount: 0, started: true };
  const status = {
    phase: 'Running',
    conditions: [{ type: 'Ready', status: 'True' }],
    containerStatuses: [{ ...about, state }],
  };
  await space.client.patch(`${space.path(`Pod/${name}`)}/status`, { status }, { contentType: MERGE_PATCH });
}

async function tokenWith(
  name: string,
  namespaced: readonly Rule[],
  audiences = [AUDIENCE, ISSUER],
): Promise<string> {
  return await caller(space, name, { cluster: VIEWER, namespaced, audiences });
}

const ALL = [LIST_DEPLOYMENTS, LIST_PODS, READ_SECRETS];

it('says who still has older data, to whoever may list pods, by their own rights', async () => {
  const token = await tokenWith('ann', ALL);
  expect(await api.as(token).call('getConsumers', { params })).toMatchObject({
    conclusion: '1 container of 1 pod still does.',
    complete: true,
    counts: { stale: 1, unknown: 0, current: 1 },
    items: [
      {
        pod: 'old',
        container: 'app',
        use: 'envFrom',
        state: 'stale',
        why: 'it started before the last write',
      },
      { pod: 'new', state: 'current', since: null },
    ],
  });
  const lists = audit.of('reroll-admin/').filter((entry) => requestName(entry) === 'LIST pods');
  expect(new Set(lists.map(({ user }) => user.username))).toEqual(new Set([userName(space, 'ann')]));
  expect(reroll.logs()).not.toContain(token);
});

it('does not know it for whoever may not read the Secret', async () => {
  const token = await tokenWith('bob', [LIST_DEPLOYMENTS, LIST_PODS]);
  const { conclusion, counts } = await api.as(token).call('getConsumers', { params });
  expect(counts).toEqual({ stale: 0, unknown: 2, current: 0 });
  expect(conclusion).toBe('It is not known of 2 containers of 2 pods: you may not read the source.');
});

it('refuses whoever may not list pods, and a token that is for the admin alone', async () => {
  const cid = api.as(await tokenWith('cid', [LIST_DEPLOYMENTS]));
  expect(await cid.problem('getConsumers', { params })).toMatchObject({
    status: 403,
    detail: `expected the right to list pods in the namespace ${space.name}`,
  });
  const dee = api.as(await tokenWith('dee', ALL, [AUDIENCE]));
  const { status, detail } = await dee.problem('getConsumers', { params });
  expect(status).toBe(403);
  expect(detail).toContain(`kubectl reroll stale --source secret/db -n ${space.name}`);
});
