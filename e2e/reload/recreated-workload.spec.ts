import { beforeAll, describe, expect, it } from 'vitest';
import { auto, configMap, deployment, naming, usingEnvFrom } from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type Space } from '../support/kube.ts';
import { keyIn, startReroll, type Reroll } from '../support/reroll.ts';
import { RolloutCount, inStep, settled } from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';

let space: Space;
let doomed: Space;
let reroll: Reroll;

beforeAll(async () => {
  const cluster = sharedCluster();
  space = await namespace(connect(cluster));
  doomed = await namespace(connect(cluster));
  reroll = await startReroll({ cluster, namespaces: [space, doomed], debounce: '500ms' });
});

async function gone(ref: string): Promise<void> {
  await space.delete(ref);
  await eventually(async () => (await space.find(ref)) === null);
}

describe('a workload that is deleted and created again', () => {
  const name = 'again';
  const ref = `Deployment/${name}`;
  const make = () => deployment(name, auto(), usingEnvFrom(name));

  it('is another one: adopted anew, not rolled, and rolled for what comes later', async () => {
    await space.apply(configMap(name, { v: '1' }), make());
    await inStep(space, ref, [`ConfigMap/${name}`]);
    await gone(ref);
    await space.apply(make());
    const rollouts = await RolloutCount.from(space, ref);
    await inStep(space, ref, [`ConfigMap/${name}`]);
    await settled(reroll, space);
    expect(await rollouts.now()).toBe(0);
    await space.setData(`ConfigMap/${name}`, { v: '2' });
    await inStep(space, ref, [`ConfigMap/${name}`]);
    await settled(reroll, space);
    expect(await rollouts.now()).toBe(1);
  });

  it('after a change, while its reload waits, has that change already: it is not rolled', async () => {
    await space.setData(`ConfigMap/${name}`, { v: '3' });
    await gone(ref);
    await space.apply(make());
    const rollouts = await RolloutCount.from(space, ref);
    await inStep(space, ref, [`ConfigMap/${name}`]);
    await settled(reroll, space);
    expect(await rollouts.now()).toBe(0);
  });
});

it('a workload that is deleted while its reload waits ends the job, and leaves the catalog', async () => {
  await space.apply(configMap('short', { v: '1' }), deployment('short', auto(), usingEnvFrom('short')));
  await inStep(space, 'Deployment/short', ['ConfigMap/short']);
  await space.setData('ConfigMap/short', { v: '2' });
  await eventually(async () => (await reroll.changes(space, 'ConfigMap/short'))[0]?.woken.length === 1);
  await gone('Deployment/short');
  await settled(reroll, space);
  expect((await reroll.outcomes(space, 'Deployment/short')).at(-1)).toMatchObject({
    state: 'unchanged',
    reason: 'WorkloadGone',
  });
  const key = keyIn(space, 'Deployment/short');
  await eventually(async () => (await reroll.catalog.workloads([key])).size === 0);
  expect(await reroll.catalog.users(keyIn(space, 'ConfigMap/short'))).toEqual([]);
});

it('a source that comes after the workload that names it rolls nothing, and its next change does', async () => {
  await space.apply(deployment('early', naming('late')));
  const rollouts = await RolloutCount.from(space, 'Deployment/early');
  await settled(reroll, space);
  await space.apply(configMap('late', { v: '1' }));
  await inStep(space, 'Deployment/early', ['ConfigMap/late']);
  await settled(reroll, space);
  expect(await rollouts.now()).toBe(0);
  await space.setData('ConfigMap/late', { v: '2' });
  await inStep(space, 'Deployment/early', ['ConfigMap/late']);
  expect(await rollouts.now()).toBe(1);
});

it('a source that comes after its workload rolls at most once if the watcher was started in between', async () => {
  await space.apply(deployment('early-2', naming('late-2')));
  const rollouts = await RolloutCount.from(space, 'Deployment/early-2');
  await settled(reroll, space);
  await Promise.all(reroll.watchers.map((watcher) => watcher.stop()));
  await reroll.start('watcher').ready();
  await space.apply(configMap('late-2', { v: '1' }));
  await inStep(space, 'Deployment/early-2', ['ConfigMap/late-2']);
  await settled(reroll, space);
  // The gap leaves it in doubt whether the source had been there before.
  expect(await rollouts.now()).toBeLessThanOrEqual(1);
});

it('a namespace that goes with all that is in it fails nothing', async () => {
  await doomed.apply(configMap('cm', { v: '1' }), deployment('api', auto(), usingEnvFrom('cm')));
  await inStep(doomed, 'Deployment/api', ['ConfigMap/cm']);
  await doomed.setData('ConfigMap/cm', { v: '2' });
  await doomed.client.request({ method: 'DELETE', path: `/api/v1/namespaces/${doomed.name}` });
  const key = keyIn(doomed, 'Deployment/api');
  await eventually(async () => (await reroll.catalog.workloads([key])).size === 0, { within: 60_000 });
  await reroll.idle();
  expect((await reroll.outcomes(doomed)).filter(({ state }) => state === 'failed')).toEqual([]);
  expect(reroll.logs()).not.toContain('level=error');
});
