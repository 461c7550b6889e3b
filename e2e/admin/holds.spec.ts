import { setTimeout } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { AdminApi } from '../support/admin/admin-api.ts';
import { openBrowser, Reader } from '../support/admin/browser.ts';
import {
  caller,
  LIST_DEPLOYMENTS,
  OPERATOR_RULES,
  PATCH_DEPLOYMENTS,
  type Rule,
} from '../support/admin/callers.ts';
import { ISSUER, tokenOf, userName } from '../support/admin/service-account-tokens.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type Space } from '../support/kube.ts';
import { auto, deployment, secret, usingEnvFrom } from '../support/objects/builders.ts';
import { adopted, inStep } from '../support/objects/rollouts.ts';
import { keyIn, startReroll, type Reroll } from '../support/reroll.ts';
import { eventually } from '../support/wait.ts';

/** Freezes, approvals and reloads that pass holds, through the API. */
const OVERRIDE_FREEZE: Rule = { apiGroups: ['reroll.dev'], resources: ['freezes'], verbs: ['override'] };

const PATCH_NAMESPACES: Rule = { apiGroups: [''], resources: ['namespaces'], verbs: ['patch'] };

let space: Space;
let reroll: Reroll;
/** May change the Deployments of the namespace: by a token for the admin alone, and by one for the API server. */
let owner: { api: AdminApi; ownToken: AdminApi };
/** The same with the right to override freezes. */
let keeper: AdminApi;

beforeAll(async () => {
  const cluster = sharedCluster();
  space = await namespace(connect(cluster));
  const namespaced = [LIST_DEPLOYMENTS, PATCH_DEPLOYMENTS];
  const token = await caller(space, 'owner', { cluster: OPERATOR_RULES, namespaced });
  const keeperToken = await caller(space, 'keeper', {
    cluster: OPERATOR_RULES,
    namespaced: [...namespaced, OVERRIDE_FREEZE],
  });
  reroll = await startReroll({
    cluster,
    namespaces: [space],
    admins: 1,
    adminFlags: ['--auth=kubernetes', '--api-accept-api-server-tokens'],
  });
  const [admin] = reroll.admins;
  if (!admin) throw new Error('expected an admin');
  const api = new AdminApi(admin);
  owner = { api: api.as(token), ownToken: api.as(await tokenOf(space, 'owner', ISSUER)) };
  keeper = api.as(keeperToken);
});

function params(name: string): { kind: 'Deployment'; namespace: string; name: string } {
  return { kind: 'Deployment', namespace: space.name, name };
}

/** Changes the source of the workload, and resolves with what the API tells of its hold. */
async function held(name: string, v: string, reason: string): Promise<{ id: string | null; detail: string }> {
  await space.setData(`ConfigMap/${name}`, { v });
  return await eventually(async () => {
    const { hold } = await owner.api.call('getWorkload', { params: params(name) });
    return hold?.reason === reason && hold;
  });
}

/** Four hours that begin in two hours. */
function closedWindow(): string {
  const at = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16);
  return `${at(2)}-${at(6)}`;
}

it('a freeze is written with the token of the caller, is audited, and is ended the same way', async () => {
  const rollouts = await adopted(space, 'frozen');
  const until = new Date(Date.now() + 3_600_000).toISOString();
  const asked = { params: params('frozen'), body: { reason: 'year-end', until } };
  const refusal = await owner.api.problem('freezeWorkload', asked);
  expect(refusal).toMatchObject({ code: 'Forbidden' });
  expect(refusal.detail).toContain(
    `kubectl reroll freeze deployment/frozen -n ${space.name} --until ${until} --reason TEXT`,
  );
  await owner.ownToken.call('freezeWorkload', asked);
  const { metadata } = await space.get('Deployment/frozen');
  expect(metadata.annotations?.['reroll.dev/freeze']).toBe(`${until}; year-end`);
  expect((await held('frozen', '2', 'Frozen')).detail).toContain('year-end');
  const [done, refused] = (await owner.api.call('listAudit')).items;
  const target = keyIn(space, 'Deployment/frozen');
  const about = { action: 'freezeWorkload', target, actor: userName(space, 'owner') };
  expect(done).toMatchObject({ ...about, reason: `until ${until}: year-end`, result: 'done' });
  expect(refused).toMatchObject({ ...about, result: 'Forbidden' });
  expect(await rollouts.now()).toBe(0);
  await owner.ownToken.call('unfreezeWorkload', { params: params('frozen'), body: { reason: 'over' } });
  await inStep(space, 'Deployment/frozen', ['ConfigMap/frozen']);
  expect(await rollouts.now()).toBe(1);
});

it('the rights of the caller decide: who may change Deployments may not freeze the namespace', async () => {
  const asked = { params: { namespace: space.name }, body: { reason: 'year-end' } };
  expect(await owner.ownToken.problem('freezeNamespace', asked)).toMatchObject({
    code: 'Forbidden',
    detail: 'expected the right to patch this object in the cluster',
  });
  const { body } = await space.client.get<{ metadata: { annotations?: object } }>(
    `/api/v1/namespaces/${space.name}`,
  );
  expect(body.metadata.annotations ?? {}).not.toHaveProperty(['reroll.dev/freeze']);
});

it('an approval lets through what the API tells to be pending', async () => {
  const rollouts = await adopted(space, 'approved');
  await space.annotate('Deployment/approved', { 'reroll.dev/approval': 'required' });
  const { id } = await held('approved', '2', 'AwaitsApproval');
  const body = { reason: 'seen', id: id ?? '' };
  await owner.ownToken.call('approveWorkload', { params: params('approved'), body });
  await inStep(space, 'Deployment/approved', ['ConfigMap/approved']);
  expect(await rollouts.now()).toBe(1);
});

it('what a selector matches is frozen and approved together: with the own token, and as a dry run showed it', async () => {
  const names = ['together-a', 'together-b'];
  const rollouts = await Promise.all(names.map((name) => adopted(space, name)));
  for (const name of names) await space.annotate(`Deployment/${name}`, { 'reroll.dev/approval': 'required' });
  const asked = { reason: 'year-end', selector: { namespace: space.name, name: 'together-' } };
  const refused = await owner.api.call('bulkFreeze', { body: asked });
  const [first] = refused.items;
  expect(refused.items.map(({ result }) => result)).toEqual(['refused', 'refused']);
  expect(first?.problem?.detail).toContain(`kubectl reroll freeze deployment/together-a -n ${space.name}`);
  const frozen = async (): Promise<unknown[]> => {
    const all = await Promise.all(names.map((name) => space.get(`Deployment/${name}`)));
    return all.map(({ metadata }) => metadata.annotations?.['reroll.dev/freeze']);
  };
  await owner.ownToken.call('bulkFreeze', { body: asked });
  expect(await frozen()).toEqual(['; year-end', '; year-end']);
  await owner.ownToken.call('bulkUnfreeze', { body: asked });
  expect(await frozen()).toEqual([undefined, undefined]);

  const ids = [];
  for (const name of names) ids.push((await held(name, '2', 'AwaitsApproval')).id);
  expect((await owner.ownToken.problem('bulkApprove', { body: asked })).errors).toEqual([
    { path: 'body.plan', expected: 'expected the plan of a dry run' },
  ]);
  const { plan, items } = await owner.ownToken.call('bulkApprove', { body: { ...asked, dryRun: true } });
  expect(items.map(({ id, result }) => [id, result])).toEqual(ids.map((id) => [id, 'planned']));
  await owner.ownToken.call('bulkApprove', { body: { ...asked, plan } });
  for (const name of names) await inStep(space, `Deployment/${name}`, [`ConfigMap/${name}`]);
  expect(await Promise.all(rollouts.map((each) => each.now()))).toEqual([1, 1]);
});

it('a manual reload passes a closed window with `now`, and not without', async () => {
  const rollouts = await adopted(space, 'closed');
  await space.annotate('Deployment/closed', { 'reroll.dev/window': closedWindow() });
  await held('closed', '2', 'OutsideWindow');
  const asked = { params: params('closed'), body: { reason: 'an outage' } };
  const { id, ...accepted } = await owner.api.call('reloadWorkload', asked);
  expect(accepted.held).toMatchObject({ reason: 'OutsideWindow' });
  await eventually(async () => {
    const [workload] = (await owner.api.call('getChange', { params: { id } })).workloads;
    return workload?.state === 'held';
  });
  expect(await rollouts.now()).toBe(0);
  const now = await owner.api.call('reloadWorkload', { ...asked, body: { ...asked.body, now: true } });
  expect(now.held).toBeUndefined();
  await inStep(space, 'Deployment/closed', ['ConfigMap/closed']);
  expect(await rollouts.now()).toBe(1);
  const [audited] = (await owner.api.call('listAudit')).items;
  expect(audited).toMatchObject({
    action: 'reloadWorkload',
    reason: 'bypassing windows, limits and waves: an outage',
  });
});

it('a freeze is passed by who may override freezes, and by nobody else', async () => {
  const rollouts = await adopted(space, 'urgent');
  await space.annotate('Deployment/urgent', { 'reroll.dev/freeze': '; year-end' });
  await held('urgent', '2', 'Frozen');
  const asked = { params: params('urgent'), body: { reason: 'an outage', now: true, overrideFreeze: true } };
  expect(await owner.api.problem('reloadWorkload', asked)).toMatchObject({
    code: 'Forbidden',
    detail: expect.stringContaining('override freezes.reroll.dev'),
  });
  expect(await rollouts.now()).toBe(0);
  await keeper.call('reloadWorkload', asked);
  await inStep(space, 'Deployment/urgent', ['ConfigMap/urgent']);
  expect(await rollouts.now()).toBe(1);
});

describe('a change in waves', () => {
  const SOURCE = 'Secret/waved';
  const names = ['waved-a', 'waved-b', 'waved-c'];
  let reader: Reader;

  beforeAll(async () => {
    await space.apply(secret('waved', { v: '1' }, { annotations: { 'reroll.dev/waves': '1,100%' } }));
    for (const name of names) await space.apply(deployment(name, auto(), usingEnvFrom(SOURCE)));
    for (const name of names) await inStep(space, `Deployment/${name}`, [SOURCE]);
    const token = await caller(space, 'resumer', {
      cluster: OPERATOR_RULES,
      namespaced: [LIST_DEPLOYMENTS, { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'patch'] }],
      audiences: [ISSUER],
    });
    const [admin] = reroll.admins;
    if (!admin) throw new Error('expected an admin');
    reader = await Reader.open(await openBrowser(), { url: `${await admin.apiUrl()}/`, token });
  });

  it('is previewed in its order, shown wave by wave, and resumed by a button when it is halted', async () => {
    const source = { kind: 'Secret', namespace: space.name, name: 'waved' } as const;
    const preview = await owner.api.call('preview', { body: { of: 'source', source } });
    expect(preview.verdicts.map(({ workload, wave }) => [workload.name, wave])).toEqual([
      ['waved-a', 1],
      ['waved-b', 2],
      ['waved-c', 2],
    ]);
    await space.patch('Deployment/waved-a', {
      spec: {
        replicas: 1,
        progressDeadlineSeconds: 1,
        template: { spec: { nodeSelector: { e2e: 'nowhere' } } },
      },
    });
    await space.setData(SOURCE, { v: '2' });
    const change = await eventually(async () => {
      const { items } = await owner.api.call('listChanges', { query: { state: 'held' } });
      return items.find((each) => each.source?.name === 'waved' && each.halted);
    });
    await reader.visit('', 'Overview');
    const attention = reader.page.getByRole('region', { name: 'Needs attention' });
    // The others name it in what holds them.
    const stuck = attention.getByRole('listitem').filter({ hasText: 'waved-a' });
    await stuck.getByText('Stuck', { exact: true }).waitFor();
    const halted = attention.getByRole('listitem').filter({ hasText: 'Its change is halted' });
    await halted.getByRole('link', { name: `Open change: Secret waved in ${space.name}` }).click();
    await reader.page.getByText('The change is halted: ').waitFor();
    await reader.page.getByText('is stuck (ProgressDeadlineExceeded)').first().waitFor();
    await reader.accessible();
    await reader.page.getByRole('button', { name: 'Resume' }).first().click();
    const dialog = reader.page.getByRole('dialog');
    await dialog.getByLabel('Reason').fill('waved-a was broken before');
    await dialog.getByRole('button', { name: 'Resume' }).click();
    for (const name of names) await inStep(space, `Deployment/${name}`, [SOURCE], { within: 60_000 });
    await eventually(async () => {
      const { halted, resumed, plan } = await owner.api.call('getWaves', { params: source });
      return halted === null && resumed && plan?.every(({ state }) => state !== 'waiting');
    });
    const [audited] = (await owner.api.call('listAudit')).items;
    expect(audited).toMatchObject({ action: 'resumeChange', target: keyIn(space, SOURCE), result: 'done' });
    expect((await owner.api.call('getChange', { params: { id: change.id } })).workloads).toHaveLength(3);
    reader.behaved();
  });
});

describe('annotations of a Namespace', () => {
  it('count in previews', async () => {
    await adopted(space, 'previewed');
    const source = { kind: 'ConfigMap', namespace: space.name, name: 'previewed' } as const;
    const heldBy = async (): Promise<unknown> => {
      const { verdicts } = await owner.api.call('preview', { body: { of: 'source', source } });
      return verdicts.map(({ held: hold }) => hold?.reason);
    };
    expect(await heldBy()).toEqual([undefined]);
    const freeze = (text: string | null): Promise<void> =>
      space.patchNamespace({ annotations: { 'reroll.dev/freeze': text } });
    await freeze('; year-end');
    await eventually(async () => JSON.stringify(await heldBy()) === '["Frozen"]');
    await freeze(null);
    await eventually(async () => JSON.stringify(await heldBy()) === '[null]');
  });
});

it('a freeze of everything is for who may patch the Namespace of the installation and Deployments everywhere', async () => {
  const rollouts = await adopted(space, 'all');
  const asked = { body: { reason: 'an incident' } };
  expect(await owner.ownToken.problem('freezeAll', asked)).toMatchObject({ code: 'Forbidden' });
  await caller(space, 'chief', {
    cluster: [...OPERATOR_RULES, LIST_DEPLOYMENTS, PATCH_DEPLOYMENTS, PATCH_NAMESPACES],
  });
  const chief = owner.api.as(await tokenOf(space, 'chief', ISSUER));
  await chief.call('freezeAll', asked);
  await eventually(async () => {
    const { frozen, warnings } = await chief.call('getStatus');
    return frozen?.includes('an incident') === true && warnings.includes(`${frozen}.`);
  });
  // A worker of an installation for some namespaces uses what it read for two seconds.
  await setTimeout(2_100);
  expect((await held('all', '2', 'Frozen')).detail).toContain('The installation is frozen');
  expect(await rollouts.now()).toBe(0);
  await chief.call('unfreezeAll', { body: { reason: 'over' } });
  await inStep(space, 'Deployment/all', ['ConfigMap/all']);
  expect(await rollouts.now()).toBe(1);
});
