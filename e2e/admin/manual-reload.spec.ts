import { beforeAll, describe, expect, it } from 'vitest';
import { ReloadRequests, type ReloadRequest } from '@reroll/redis/catalog/requests';
import type { OutcomeEntry } from '@reroll/core/history/entries';
import { REQUEST_ANNOTATION } from '@reroll/core/reload/request';
import { auto, configMap, cronJob, deployment, job, usingEnvFrom } from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type Space, type WorkloadRef } from '../support/kube.ts';
import { refuseUpdates } from '../support/objects/policy.ts';
import { keyIn, startReroll, type Reroll } from '../support/reroll.ts';
import { RolloutCount, inStep, markerVariables, settled } from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';

const BY = { actor: 'ann', reason: 'a test' };

let space: Space;
let reroll: Reroll;
let requests: ReloadRequests;

beforeAll(async () => {
  const cluster = sharedCluster();
  space = await namespace(connect(cluster));
  reroll = await startReroll({ cluster, namespaces: [space], sweepInterval: '2s' });
  requests = new ReloadRequests(reroll.redis, reroll.catalog.keys.requests);
});

/** As the admin does it. */
async function asks(ref: WorkloadRef): Promise<ReloadRequest> {
  const request = await requests.put(keyIn(space, ref), BY);
  await reroll.queues.enqueueReloadNow(keyIn(space, ref), Date.now());
  return request;
}

/** What came of a request, once it is done. */
async function cameOf(ref: WorkloadRef, { id }: ReloadRequest): Promise<OutcomeEntry> {
  const outcome = await eventually(async () =>
    (await reroll.outcomes(space, ref)).findLast(({ request }) => request?.id === id),
  );
  await eventually(async () => (await requests.of(keyIn(space, ref)))?.id !== id);
  return outcome;
}

async function adopted(name: string): Promise<RolloutCount> {
  await space.apply(configMap(name, { v: '0' }), deployment(name, auto(), usingEnvFrom(name)));
  await inStep(space, `Deployment/${name}`, [`ConfigMap/${name}`]);
  return await RolloutCount.from(space, `Deployment/${name}`);
}

describe('a request of a person', () => {
  it('rolls a workload that opts in, once', async () => {
    const rollouts = await adopted('asked');
    const ref = 'Deployment/asked';
    const request = await asks(ref);
    const { generation } = (await space.get(ref)).metadata;
    const outcome = await cameOf(ref, request);
    const by = { id: request.id, ...BY };
    expect(outcome).toMatchObject({ state: 'reloaded', reason: 'Reloaded', rolled: [], request: by });
    expect(outcome.generation).toBeGreaterThanOrEqual(generation);
    const { metadata } = (await space.get(ref)).spec.template;
    expect(metadata?.annotations?.[REQUEST_ANNOTATION]).toBe(request.id);
    await settled(reroll, space);
    expect(await rollouts.now()).toBe(1);
    await inStep(space, ref, ['ConfigMap/asked']);
  });

  it('that is left after its patch is done, and rolls nothing a second time', async () => {
    const rollouts = await adopted('cut-off');
    const request = await asks('Deployment/cut-off');
    await cameOf('Deployment/cut-off', request);
    // As if the worker had died before it took the request away.
    await reroll.redis.hset(
      reroll.catalog.keys.requests,
      keyIn(space, 'Deployment/cut-off'),
      JSON.stringify(request),
    );
    await reroll.queues.enqueueReloadNow(keyIn(space, 'Deployment/cut-off'), Date.now());
    await eventually(async () => (await requests.of(keyIn(space, 'Deployment/cut-off'))) === undefined);
    const outcomes = await reroll.outcomes(space, 'Deployment/cut-off');
    expect(outcomes.at(-1)).toMatchObject({ state: 'unchanged', reason: 'RequestDone' });
    expect(await rollouts.now()).toBe(1);
  });

  it('is told on the workload by one Event, with the words and not with the name of the person, and in the log', async () => {
    await adopted('told');
    const ref = 'Deployment/told';
    const { id } = await requests.put(keyIn(space, ref), { actor: 'ann', reason: 'moved to\nanother pool' });
    await reroll.queues.enqueueReloadNow(keyIn(space, ref), Date.now());
    const subject = `'told' of type 'Deployment' in namespace '${space.name}'`;
    const events = await eventually(async () => {
      const found = (await space.events(ref)).filter(({ reason }) => reason === 'Reloaded');
      return found.length > 0 && found;
    });
    const message = `Reload requested ("moved to another pool"), Updated ${subject}`;
    expect(events).toMatchObject([{ type: 'Normal', source: { component: 'reroll' }, message }]);
    expect(JSON.stringify(events)).not.toContain('"ann"');
    await eventually(() => reroll.logs().includes(`${subject} was reloaded on request`));
    expect(reroll.logs()).toContain(`request=${id}`);
  });

  it('that the API server refuses is over, and is told by an Event with the reason and the code only', async () => {
    const rollouts = await adopted('refused');
    const ref = 'Deployment/refused';
    const refusal = await refuseUpdates(space, { workloads: ['refused'], reason: 'Invalid' });
    const outcome = await cameOf(ref, await asks(ref));
    expect(outcome).toMatchObject({ state: 'failed', reason: 'Invalid', request: BY });
    const event = await eventually(async () =>
      (await space.events(ref)).find(({ reason }) => reason === 'ReloadFail'),
    );
    const subject = `'refused' of type 'Deployment' in namespace '${space.name}'`;
    const failure = 'failed with error Invalid: KUBE_API 422 Invalid';
    expect(event.message).toBe(`Reload requested ("a test"), Update for ${subject} ${failure}`);
    expect(await rollouts.now()).toBe(0);
    await refusal.end();
    await cameOf(ref, await asks(ref));
    expect(await rollouts.now()).toBe(1);
  });

  it('of which the job was lost is found by the resync', async () => {
    const rollouts = await adopted('lost');
    const request = await requests.put(keyIn(space, 'Deployment/lost'), BY);
    await cameOf('Deployment/lost', request);
    expect(await rollouts.now()).toBe(1);
  });

  it('is one rollout together with a change that is pending, which has its marker too', async () => {
    const rollouts = await adopted('both');
    await reroll.queues.reloads.pause();
    await space.setData('ConfigMap/both', { v: '1' });
    const request = await asks('Deployment/both');
    await eventually(async () => (await reroll.changes(space, 'ConfigMap/both')).length > 0);
    await reroll.queues.reloads.resume();
    const outcome = await cameOf('Deployment/both', request);
    const now = await inStep(space, 'Deployment/both', ['ConfigMap/both']);
    await settled(reroll, space);
    expect(outcome).toMatchObject({ state: 'reloaded', rolled: ['ConfigMap/both'] });
    expect(markerVariables(now)['app']).toHaveProperty('STAKATER_BOTH_CONFIGMAP');
    expect(await rollouts.now()).toBe(1);
  });

  it('creates one Job of a CronJob, and recreates a Job', async () => {
    await space.apply(
      configMap('jobs', { v: '0' }),
      cronJob('nightly', auto(), usingEnvFrom('jobs')),
      job('once', auto(), usingEnvFrom('jobs')),
    );
    await inStep(space, 'CronJob/nightly', ['ConfigMap/jobs']);
    await inStep(space, 'Job/once', ['ConfigMap/jobs']);
    const { uid } = (await space.get('Job/once')).metadata;
    expect(await cameOf('CronJob/nightly', await asks('CronJob/nightly'))).toMatchObject({
      reason: 'JobCreated',
    });
    expect(await cameOf('Job/once', await asks('Job/once'))).toMatchObject({ reason: 'JobRecreated' });
    await settled(reroll, space);
    const jobs = (await space.list('Job')).map(({ metadata }) => metadata);
    expect(jobs.filter(({ name }) => name.startsWith('nightly-'))).toHaveLength(1);
    expect(jobs.find(({ name }) => name === 'once')?.uid).not.toBe(uid);
  });
});
