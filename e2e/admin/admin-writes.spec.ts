import { beforeAll, describe, expect, it } from 'vitest';
import { REQUEST_ANNOTATION } from '@reroll/core/reload/request';
import { ReloadRequests } from '@reroll/redis/catalog/requests';
import type { ChangeWorkload } from '@reroll/shared/api/changes';
import { AdminApi, OPERATOR, READER, tokensFile, type StaticToken } from '../support/admin/admin-api.ts';
import { auto, configMap, deployment, replicas, usingEnvFrom } from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type Space } from '../support/kube.ts';
import { refuseUpdates } from '../support/objects/policy.ts';
import { REDIS_FORMS, refusedAll, type RedisForm } from '../support/redis/redis-forms.ts';
import { keyIn, startReroll, type Reroll } from '../support/reroll.ts';
import { RolloutCount, inStep, markerVariables } from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';

const BECAUSE = { reason: 'moved to\nanother pool' };
const LIMITS = { concurrency: 3, reloadsPerMinute: 0 };
const NO_LIMITS = { concurrency: null, reloadsPerMinute: null };

let space: Space;
let elsewhere: Space;
let reroll: Reroll;
/** A Valkey, where each process has the user of the guide for its component. */
let redis: RedisForm;
/** Two admins of one install, the second with the same callers. */
let api: AdminApi;
let other: AdminApi;
/** Reads and writes in `space` only. */
let namespaced: StaticToken;

beforeAll(async () => {
  const cluster = sharedCluster();
  const client = connect(cluster);
  space = await namespace(client);
  elsewhere = await namespace(client);
  for (const each of [space, elsewhere]) {
    await each.apply(configMap('cm', { v: '1' }));
    await each.applyAll(
      ['web', 'idle', 'bad'].map((name) => deployment(name, auto(), replicas(1), usingEnvFrom('cm'))),
    );
    await each.apply(deployment('plain', usingEnvFrom('cm')));
  }
  await space.apply(configMap('own', { v: '1' }), deployment('both', auto(), usingEnvFrom('own')));
  namespaced = { name: 'ned', token: 'token-of-ned', access: 'write', namespaces: [space.name] };
  const outsider = { ...namespaced, name: 'olga', token: 'token-of-olga', namespaces: [elsewhere.name] };
  const file = tokensFile([READER, OPERATOR, namespaced, outsider]);
  redis = await REDIS_FORMS.Valkey();
  reroll = await startReroll({
    cluster,
    namespaces: [space, elsewhere],
    redisEnv: redis.env,
    redisUsers: redis.users,
    admins: 2,
    sweepInterval: '2s',
    flags: ['--attempts=1'],
    adminFlags: ['--auth=static', `--static-tokens-file=${file}`, '--api-requests-per-minute=100000'],
  });
  for (const each of [space, elsewhere])
    for (const name of ['web', 'idle', 'bad']) await inStep(each, `Deployment/${name}`, ['ConfigMap/cm']);
  await inStep(space, 'Deployment/both', ['ConfigMap/own']);
  const [first, second] = reroll.admins;
  if (!first || !second) throw new Error('expected two admins');
  api = new AdminApi(first);
  other = new AdminApi(second);
  expect(await api.call('setLimits', { body: { ...BECAUSE, ...LIMITS } })).toEqual(LIMITS);
});

function params(name: string, where = space): { kind: 'Deployment'; namespace: string; name: string } {
  return { kind: 'Deployment', namespace: where.name, name };
}

/** How many changes of a workload of `space` a person requested. */
async function manual(name: string): Promise<number> {
  const entries = await reroll.history.latest('changes', 1_000);
  const key = keyIn(space, `Deployment/${name}`);
  return entries.filter(({ entry }) => entry.source === null && entry.woken[0]?.workload === key).length;
}

/** The workload at a person's change, once something has come of it. */
async function reaches(id: string, state: ChangeWorkload['state']): Promise<ChangeWorkload> {
  return await eventually(async () => {
    const [found] = (await other.call('getChange', { params: { id } })).workloads;
    expect(found).toMatchObject({ state });
    return found;
  });
}

describe('a reload that a person asks for', () => {
  it('reloads the workload once, is followed from one admin to its end at the other, and is told in an Event', async () => {
    const ref = 'Deployment/web';
    const rollouts = await RolloutCount.from(space, ref);
    const { id } = await api.call('reloadWorkload', { params: params('web'), body: BECAUSE });
    expect(await reaches(id, 'rolledOut')).toMatchObject({
      workload: params('web'),
      verdict: 'reload',
      reason: 'Requested',
      outcome: 'Reloaded',
      attempts: { made: 1 },
      error: null,
      rollout: { state: 'complete' },
    });
    const request = { actor: 'operator', ...BECAUSE };
    const change = await other.call('getChange', { params: { id } });
    expect(change).toMatchObject({ source: null, cause: 'manual', from: null, to: null, request });
    const outcomes = (await reroll.outcomes(space, ref)).filter((each) => each.request);
    expect(outcomes).toMatchObject([{ state: 'reloaded', rolled: [], request }]);
    const { metadata } = (await space.get(ref)).spec.template;
    expect(metadata?.annotations?.[REQUEST_ANNOTATION]).toBe(outcomes[0]?.request?.id);
    expect(await rollouts.now()).toBe(1);
    const target = keyIn(space, ref);
    const audited = { ...request, action: 'reloadWorkload', target, result: 'done' };
    expect((await api.call('listAudit')).items[0]).toMatchObject(audited);
    const events = await eventually(async () => {
      const found = (await space.events(ref)).filter(({ reason }) => reason === 'Reloaded');
      return found.length > 0 && found;
    });
    const subject = `'web' of type 'Deployment' in namespace '${space.name}'`;
    const message = `Reload requested ("moved to another pool"), Updated ${subject}`;
    expect(events).toMatchObject([{ type: 'Normal', source: { component: 'reroll' }, message }]);
    expect(JSON.stringify(events)).not.toContain('"operator"');
    await eventually(() => reroll.logs().includes(`${subject} was reloaded on request`));
    expect(reroll.logs()).toContain(`request=${outcomes[0]?.request?.id}`);
  });

  it('is one rollout together with a change that is pending, which has its marker too', async () => {
    const rollouts = await RolloutCount.from(space, 'Deployment/both');
    await reroll.queues.reloads.pause();
    await space.setData('ConfigMap/own', { v: '2' });
    const { id } = await api.call('reloadWorkload', { params: params('both'), body: BECAUSE });
    await eventually(async () => (await reroll.changes(space, 'ConfigMap/own')).length > 0);
    await reroll.queues.reloads.resume();
    await reaches(id, 'rolledOut');
    const now = await inStep(space, 'Deployment/both', ['ConfigMap/own']);
    expect(markerVariables(now)['app']).toHaveProperty('STAKATER_OWN_CONFIGMAP');
    await reroll.idle();
    expect(await rollouts.now()).toBe(1);
  });

  it('of which the job was lost is found by the resync', async () => {
    const rollouts = await RolloutCount.from(space, 'Deployment/both');
    const requests = new ReloadRequests(reroll.redis, reroll.catalog.keys.requests);
    await requests.put(keyIn(space, 'Deployment/both'), { actor: 'ann', ...BECAUSE });
    await eventually(async () => (await rollouts.now()) === 1, { what: 'the rollout' });
  });

  it('of a workload that does not opt in reloads nothing, and says why', async () => {
    const rollouts = await RolloutCount.from(space, 'Deployment/plain');
    const { id } = await api.call('reloadWorkload', { params: params('plain'), body: BECAUSE });
    expect(await reaches(id, 'skipped')).toMatchObject({ outcome: 'NotAnnotated', rollout: null });
    expect(await rollouts.now()).toBe(0);
  });
});

describe('an idempotency key', () => {
  it('makes one write of many requests, at the same time and later, of one admin and of another', async () => {
    const rollouts = await RolloutCount.from(space, 'Deployment/idle');
    const asked = {
      params: params('idle'),
      body: BECAUSE,
      headers: { 'idempotency-key': 'once-and-only-once' },
    };
    const answers = await Promise.all(
      [api, other, api, other, api].map((one) => one.call('reloadWorkload', asked)),
    );
    answers.push(await other.call('reloadWorkload', asked));
    const [id, ...more] = new Set(answers.map((answer) => answer.id));
    if (id === undefined || more.length > 0) throw new Error('expected one change, given several');
    await reaches(id, 'rolledOut');
    await reroll.idle();
    expect(await rollouts.now()).toBe(1);
    expect(await manual('idle')).toBe(1);
    const { items } = await api.call('listAudit');
    const target = keyIn(space, 'Deployment/idle');
    expect(items.filter((entry) => entry.target === target)).toHaveLength(1);
  });
});

describe('a write that is refused', () => {
  it.each([
    ['by somebody who may only read', READER.token, 'reader', 'Forbidden'],
    ['by somebody who does not see the namespace', 'token-of-olga', 'olga', 'NotFound'],
  ])('%s is audited', async (_sentence, token, actor, code) => {
    const before = await manual('web');
    const asked = { params: params('web'), body: BECAUSE };
    expect(await api.as(token).problem('reloadWorkload', asked)).toMatchObject({ code });
    const { items } = await api.call('listAudit', { query: { actor } });
    expect(items[0]).toMatchObject({ actor, action: 'reloadWorkload', result: code });
    expect(await manual('web')).toBe(before);
  });
});

describe('a queue that is paused', () => {
  it('keeps its jobs, which a namespaced reader sees their own of, until it is resumed', async () => {
    const reloads = { params: { name: 'reloads' as const }, body: BECAUSE };
    await reroll.idle();
    expect(await api.call('pauseQueue', reloads)).toMatchObject({ name: 'reloads', paused: true });
    const counts = await Promise.all([
      RolloutCount.from(space, 'Deployment/web'),
      RolloutCount.from(elsewhere, 'Deployment/web'),
    ]);
    for (const each of [space, elsewhere]) await each.setData('ConfigMap/cm', { v: '2' });
    const waiting = async (one: AdminApi): Promise<readonly string[]> => {
      const { items } = await one.call('listJobs', { query: { queue: 'reloads', limit: 200 } });
      return items.map(({ subject }) => subject ?? '').toSorted((a, b) => (a < b ? -1 : 1));
    };
    const keys = (where: Space): string[] =>
      ['bad', 'idle', 'web'].map((name) => keyIn(where, `Deployment/${name}`));
    await eventually(async () => {
      expect(await waiting(api)).toEqual([...keys(space), ...keys(elsewhere)].sort());
      return true;
    });
    expect(await waiting(other.as(namespaced.token))).toEqual(keys(space));
    const queueOf = async (one: AdminApi): Promise<number> => {
      const { items } = await one.call('listQueues');
      const counted = items.find(({ name }) => name === 'reloads')?.counts;
      return (counted?.waiting ?? 0) + (counted?.delayed ?? 0);
    };
    expect(await queueOf(api)).toBe(6);
    expect(await queueOf(api.as(namespaced.token))).toBe(3);
    expect((await api.call('getStatus')).warnings).toContain('The queue reloads is paused.');
    expect(await Promise.all(counts.map((count) => count.now()))).toEqual([0, 0]);
    expect(await other.call('resumeQueue', reloads)).toMatchObject({ paused: false });
    for (const each of [space, elsewhere]) await inStep(each, 'Deployment/web', ['ConfigMap/cm']);
    expect(await Promise.all(counts.map((count) => count.now()))).toEqual([1, 1]);
  });
});

describe('a job that failed', () => {
  it('is told with its error, and is done when somebody has it tried again', async () => {
    await reroll.idle();
    const refusal = await refuseUpdates(space, { workloads: ['bad'], reason: 'Invalid' });
    await space.setData('ConfigMap/cm', { v: '3' });
    const subject = keyIn(space, 'Deployment/bad');
    const failed = await eventually(async () => {
      const { items } = await api.call('listJobs', { query: { state: 'failed' } });
      return items.find((job) => job.subject === subject);
    });
    expect(failed).toMatchObject({
      queue: 'reloads',
      error: 'Invalid: KUBE_API 422 Invalid',
      attempts: { made: 1, most: 1 },
      until: null,
    });
    const { id } = failed;
    expect(await api.call('getJob', { params: { id } })).toEqual(failed);
    const olga = api.as('token-of-olga');
    expect(await olga.problem('getJob', { params: { id } })).toMatchObject({ code: 'NotFound' });
    expect(await olga.problem('retryJob', { params: { id }, body: BECAUSE })).toMatchObject({
      code: 'NotFound',
    });
    // From then on a job that the resync has added may reload it.
    const count = await RolloutCount.from(space, 'Deployment/bad');
    await refusal.end();
    const failing = { ...BECAUSE, selector: { namespace: space.name } };
    const planned = { target: subject, id, result: 'planned', accepted: null, problem: null };
    const dryRun = { body: { ...failing, dryRun: true } };
    expect((await olga.call('bulkRetry', dryRun)).items).toEqual([]);
    // The resync may have added another job, which fails, too.
    expect((await api.as(namespaced.token).call('bulkRetry', dryRun)).items).toContainEqual(planned);
    const { items } = await api.as(namespaced.token).call('bulkRetry', { body: failing });
    expect(items.find((item) => item.id === id)).toMatchObject({ target: subject, result: 'done' });
    await inStep(space, 'Deployment/bad', ['ConfigMap/cm']);
    await eventually(async () => (await api.problem('getJob', { params: { id } })).code === 'NotFound');
    expect(await count.now()).toBe(1);
    const audit = (await api.call('listAudit', { query: { limit: 10 } })).items;
    const retried = { actor: 'ned', action: 'retryJob', target: `${id} ${subject}`, result: 'done' };
    expect(audit).toContainEqual(expect.objectContaining(retried));
  });
});

describe('a bulk reload', () => {
  const names = ['bad', 'idle', 'plain', 'web'];

  it('of everything is not what an empty selector means', async () => {
    const { errors } = await api.problem('bulkReload', { body: { ...BECAUSE, selector: {} } });
    expect(errors).toMatchObject([
      { path: 'body.selector', expected: expect.stringMatching(/^expected at least one field/) },
    ]);
  });

  it('reloads the users of a source as planned, once for its key, and nothing beyond its limit', async () => {
    await reroll.idle();
    const before = await manual('web');
    const selector = { source: `ConfigMap/${space.name}/cm` as const };
    const refusal = await api.problem('bulkReload', { body: { ...BECAUSE, selector, limit: 3 } });
    expect(refusal).toMatchObject({ code: 'Conflict', detail: expect.stringMatching(/^more than 3 match/) });
    const { plan, items } = await api.call('bulkReload', { body: { ...BECAUSE, selector, dryRun: true } });
    const targets = names.map((name) => keyIn(space, `Deployment/${name}`));
    expect(items.map(({ target, result }) => [target, result])).toEqual(
      targets.map((target) => [target, 'planned']),
    );
    expect(await manual('web')).toBe(before);
    const count = await RolloutCount.from(space, 'Deployment/web');
    const asked = { body: { ...BECAUSE, selector, plan }, headers: { 'idempotency-key': 'all-of-cm' } };
    const answers = await Promise.all([api, other].map((one) => one.call('bulkReload', asked)));
    expect(answers[1]).toEqual(answers[0]);
    const response = await api.request('bulkReload', asked);
    expect(await response.json()).toEqual(answers[0]);
    // However many objects are counted: no more headers than of one.
    const limitsTold = ({ headers }: Response): number | undefined =>
      headers.get('ratelimit')?.split(',').length;
    expect(limitsTold(response)).toBe(limitsTold(await api.request('getLimits', {})));
    const outcomes = ['rolledOut', 'rolledOut', 'skipped', 'rolledOut'] as const;
    for (const [index, { target, result, accepted }] of (answers[0]?.items ?? []).entries()) {
      expect([target, result]).toEqual([targets[index], 'done']);
      await reaches(accepted?.id ?? '', outcomes[index] ?? 'failed');
    }
    expect(answers[0]?.items).toHaveLength(names.length);
    await reroll.idle();
    expect(await count.now()).toBe(1);
    expect(await manual('web')).toBe(before + 1);
  });
});

it('limits are set for everybody, count for workers within a heartbeat, and are taken away again', async () => {
  expect(await other.call('getLimits')).toEqual(LIMITS);
  const { limits, leader, processes } = await eventually(async () => {
    const status = await other.call('getStatus');
    const worker = status.processes.find(({ app }) => app === 'worker');
    return worker?.concurrency === LIMITS.concurrency && status;
  });
  expect(limits).toEqual(LIMITS);
  expect(processes.filter(({ role }) => role === 'leader').map(({ name }) => name)).toEqual([leader]);
  expect(await other.call('setLimits', { body: { ...BECAUSE, ...NO_LIMITS } })).toEqual(NO_LIMITS);
  expect(await api.call('getLimits')).toEqual(NO_LIMITS);
});

it('none of them is refused a command or a key of Redis, also after it was away; who may not get in says why', async () => {
  await redis.interrupt(reroll.catalog.keys.prefix);
  await space.setData('ConfigMap/own', { v: '3' });
  await inStep(space, 'Deployment/both', ['ConfigMap/own']);
  expect(await redis.refusals?.()).toEqual([]);
  await refusedAll(reroll, redis);
});
