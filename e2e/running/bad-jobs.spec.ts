import { beforeAll, describe, expect, it } from 'vitest';
import { auto, configMap, deployment, usingEnvFrom } from '../support/objects/builders.ts';
import { cleanUp } from '../support/cleanup.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type Space } from '../support/kube.ts';
import { keyIn, startReroll, type Reroll } from '../support/reroll.ts';
import { RolloutCount, inStep, recordOf } from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';

let space: Space;
let reroll: Reroll;

beforeAll(async () => {
  const cluster = sharedCluster();
  space = await namespace(connect(cluster));
  await space.apply(configMap('cm', { v: '1' }), deployment('api', auto(), usingEnvFrom('cm')));
  reroll = await startReroll({ cluster, namespaces: [space], flags: ['--attempts=2', '--backoff=50ms'] });
  await inStep(space, 'Deployment/api', ['ConfigMap/cm']);
  await reroll.idle();
});

type QueueName = 'changes' | 'reloads';

/** Adds a job as nobody of ours would; if it is still there after the test it is removed. */
async function add(queue: QueueName, data: unknown, id?: string): Promise<string> {
  const options = id === undefined ? {} : { deduplication: { id, keepLastIfActive: true } };
  const job = await reroll.queues[queue].add('foreign', data as never, { attempts: 2, ...options });
  cleanUp(() => job.remove());
  return job.id as string;
}

async function stateOf(queue: QueueName, id: string): Promise<string> {
  return await reroll.queues[queue].getJobState(id);
}

async function aChangeIsRolled(): Promise<void> {
  const rollouts = await RolloutCount.from(space, 'Deployment/api');
  await space.setData('ConfigMap/cm', { v: `${Math.random()}` });
  await inStep(space, 'Deployment/api', ['ConfigMap/cm']);
  expect(await rollouts.now()).toBe(1);
}

const QUEUES: readonly QueueName[] = ['changes', 'reloads'];

describe.each(QUEUES)('a job in the queue %s', (queue) => {
  it.each([
    ['text', 'nonsense'],
    ['nothing', null],
    ['no version', { source: 'ConfigMap/a/b', workload: 'Deployment/a/b', since: 1 }],
    ['a key of too many parts', { v: 1, source: 'ConfigMap/a/b/c', workload: 'Deployment/a/b/c', since: 1 }],
    ['more than it should', { v: 1, source: 'ConfigMap/a/b', workload: 'Deployment/a/b', since: 1, x: 1 }],
  ])('that holds %s fails as InvalidJob, at once, and harms nothing', async (_, data) => {
    const id = await add(queue, data);
    await eventually(async () => (await stateOf(queue, id)) === 'failed');
    const job = await reroll.queues[queue].getJob(id);
    expect(job?.failedReason).toMatch(/^InvalidJob: /);
    expect(job?.attemptsMade).toBe(1);
    await aChangeIsRolled();
  });

  it('about something that does not exist ends, and harms nothing', async () => {
    const kind = queue === 'changes' ? 'source' : 'workload';
    const key = queue === 'changes' ? 'Secret/nowhere/none' : 'Deployment/nowhere/none';
    const id = await add(queue, { v: 1, [kind]: key, since: Date.now() });
    await aChangeIsRolled();
    await reroll.idle();
    expect(['completed', 'unknown']).toContain(await stateOf(queue, id));
  });

  it('of a version that nobody here knows stays for one who does, and harms nothing', async () => {
    const id = await add(queue, { v: 2, everything: 'is different' });
    await eventually(async () => (await stateOf(queue, id)) === 'delayed');
    await aChangeIsRolled();
    expect(await stateOf(queue, id)).toBe('delayed');
    expect((await reroll.queues[queue].getJob(id))?.data).toEqual({ v: 2, everything: 'is different' });
  });
});

it.each(QUEUES)(
  'a job in the queue %s of an unknown version does not hold up those of a known one for the same',
  async (queue) => {
    const key = queue === 'changes' ? keyIn(space, 'ConfigMap/cm') : keyIn(space, 'Deployment/api');
    const id = await add(queue, { v: 2, about: key }, key);
    await eventually(async () => (await stateOf(queue, id)) === 'delayed');
    await aChangeIsRolled();
    await aChangeIsRolled();
  },
);

it('a reload job of a kind that nobody knows fails as InvalidJob', async () => {
  const id = await add('reloads', { v: 1, workload: `Gadget/${space.name}/x`, since: Date.now() });
  await eventually(async () => (await stateOf('reloads', id)) === 'failed');
  expect((await reroll.queues.reloads.getJob(id))?.failedReason).toBe('InvalidJob: no workload kind Gadget');
  await aChangeIsRolled();
});

it('a reload job for a workload that did not ask rolls nothing', async () => {
  await space.apply(deployment('silent', usingEnvFrom('cm')));
  const rollouts = await RolloutCount.from(space, 'Deployment/silent');
  await space.setData('ConfigMap/cm', { v: '2' });
  const job = { workload: keyIn(space, 'Deployment/silent'), source: keyIn(space, 'ConfigMap/cm') };
  await reroll.queues.enqueueReloads([{ ...job, since: Date.now() }]);
  const outcome = await eventually(async () => (await reroll.outcomes(space, 'Deployment/silent'))[0]);
  expect(outcome).toMatchObject({ state: 'unchanged', reason: 'NotAnnotated' });
  expect(await rollouts.now()).toBe(0);
  expect(recordOf(await space.get('Deployment/silent'))).toEqual({});
});
