import { beforeAll, describe, expect, it } from 'vitest';
import { markerHash } from '@reroll/core/marker/marker-hash';
import {
  auto,
  configMap,
  deployment,
  naming,
  podAnnotated,
  secret,
  source,
  usingEnvFrom,
  usingVolume,
} from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type Manifest, type Space } from '../support/kube.ts';
import { keyIn, startReroll, type Reroll } from '../support/reroll.ts';
import {
  RolloutCount,
  adopted,
  change,
  inStep,
  markerAnnotation,
  markerVariables,
  settled,
} from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';

let space: Space;
let doomed: Space;
let reroll: Reroll;

beforeAll(async () => {
  const cluster = sharedCluster();
  [space, doomed] = [await namespace(connect(cluster)), await namespace(connect(cluster))];
  reroll = await startReroll({ cluster, namespaces: [space, doomed], debounce: '2500ms' });
});

it('a source that is deleted reloads nothing, nor does it when it is created again as it was; with other data it reloads once', async () => {
  const [same, other] = [await adopted(space, 'same'), await adopted(space, 'other', 'Secret/other')];
  await space.delete('ConfigMap/same');
  await space.delete('Secret/other');
  await settled(reroll, space);
  expect([await same.now(), await other.now()]).toEqual([0, 0]);
  await space.apply(source('ConfigMap/same', { v: '1' }), source('Secret/other', { v: '2' }));
  await inStep(space, 'Deployment/other', ['Secret/other']);
  await settled(reroll, space);
  expect([await same.now(), await other.now()]).toEqual([0, 1]);
});

it('and so if no watcher is there when it goes, whether it is back before one is or later', async () => {
  const names = ['down-same', 'down-other', 'down-half'] as const;
  const counts = await Promise.all(names.map((name) => adopted(space, name)));
  await reroll.replace('watcher', async () => {
    for (const name of names) await space.delete(`ConfigMap/${name}`);
    await space.apply(configMap('down-same', { v: '1' }), configMap('down-other', { v: '2' }));
  });
  await inStep(space, 'Deployment/down-other', ['ConfigMap/down-other']);
  await space.apply(configMap('down-half', { v: '2' }));
  await inStep(space, 'Deployment/down-half', ['ConfigMap/down-half']);
  await settled(reroll, space);
  expect(await Promise.all(counts.map((count) => count.now()))).toEqual([0, 1, 1]);
});

it('a workload that is deleted ends the job that waits for it, and leaves the catalog', async () => {
  await adopted(space, 'short');
  await space.setData('ConfigMap/short', { v: '2' });
  await eventually(async () => (await reroll.changes(space, 'ConfigMap/short'))[0]?.woken.length === 1);
  await space.delete('Deployment/short');
  await settled(reroll, space);
  const outcome = (await reroll.outcomes(space, 'Deployment/short')).at(-1);
  expect(outcome).toMatchObject({ state: 'unchanged', reason: 'WorkloadGone' });
  const key = keyIn(space, 'Deployment/short');
  await eventually(async () => (await reroll.catalog.workloads([key])).size === 0);
  expect(await reroll.catalog.users(keyIn(space, 'ConfigMap/short'))).toEqual([]);
});

it('a workload that is deleted and created again has the change already: it is adopted, and reloaded for the next', async () => {
  await adopted(space, 'again');
  await space.setData('ConfigMap/again', { v: '2' });
  await space.delete('Deployment/again');
  await eventually(async () => (await space.find('Deployment/again')) === null);
  await space.apply(deployment('again', auto(), usingEnvFrom('again')));
  const rollouts = await RolloutCount.from(space, 'Deployment/again');
  await inStep(space, 'Deployment/again', ['ConfigMap/again']);
  await settled(reroll, space);
  expect(await rollouts.now()).toBe(0);
  await change(space, 'ConfigMap/again', '3', ['Deployment/again']);
  expect(await rollouts.now()).toBe(1);
});

it('a source that comes after the workload that names it reloads nothing, and its next change does', async () => {
  await space.apply(deployment('early', naming('late')));
  const rollouts = await RolloutCount.from(space, 'Deployment/early');
  await settled(reroll, space);
  await space.apply(configMap('late', { v: '1' }));
  await inStep(space, 'Deployment/early', ['ConfigMap/late']);
  await settled(reroll, space);
  expect(await rollouts.now()).toBe(0);
  await change(space, 'ConfigMap/late', '2', ['Deployment/early']);
  expect(await rollouts.now()).toBe(1);
});

it('a namespace that goes with all that is in it fails nothing', async () => {
  await adopted(doomed, 'api');
  await doomed.setData('ConfigMap/api', { v: '2' });
  await doomed.client.request({ method: 'DELETE', path: `/api/v1/namespaces/${doomed.name}` });
  const key = keyIn(doomed, 'Deployment/api');
  await eventually(async () => (await reroll.catalog.workloads([key])).size === 0, { within: 60_000 });
  await reroll.idle();
  expect((await reroll.outcomes(doomed)).filter(({ state }) => state === 'failed')).toEqual([]);
  expect(reroll.logs()).not.toContain('level=error');
});

it('two sources of one variable: a change to what the variable has already is told by the annotation', async () => {
  const sources = ['ConfigMap/a.b', 'ConfigMap/a-b'];
  await space.apply(
    configMap('a.b', { v: 'dot' }),
    configMap('a-b', { v: 'dash' }),
    deployment('same', auto(), usingEnvFrom('a.b'), usingEnvFrom('a-b')),
  );
  await inStep(space, 'Deployment/same', sources);
  const rollouts = await RolloutCount.from(space, 'Deployment/same');
  const hash = markerHash('ConfigMap', { data: { v: 'the same' } });
  for (const [index, source] of sources.entries()) {
    await space.setData(source, { v: 'the same' });
    const now = await inStep(space, 'Deployment/same', sources);
    await settled(reroll, space);
    expect(await rollouts.now()).toBe(index + 1);
    expect(markerVariables(now)).toEqual({ app: { STAKATER_A_B_CONFIGMAP: hash } });
    if (index === 0) expect(markerAnnotation(now)).toBeUndefined();
    else expect(markerAnnotation(now)).toMatchObject({ kind: 'ConfigMap', name: 'a-b', hash });
  }
});

describe('one apply of sources and a workload, as of helm', () => {
  const ref = 'Deployment/chart';

  /** A chart with a checksum of its configuration in the pod template, as charts have it, or without. */
  function chart(config: string, checksum: string): [Manifest, Manifest, Manifest] {
    const uses = [usingEnvFrom('chart'), usingVolume('Secret/chart')];
    const template = podAnnotated({ 'checksum/config': checksum });
    return [
      configMap('chart', { config }),
      secret('chart', { config }),
      deployment('chart', auto(), ...uses, template),
    ];
  }

  /** How many rollouts this gives. */
  async function rolloutsBy(act: () => Promise<unknown>): Promise<number> {
    const rollouts = await RolloutCount.from(space, ref);
    await act();
    await inStep(space, ref, ['ConfigMap/chart', 'Secret/chart']);
    await settled(reroll, space);
    return await rollouts.now();
  }

  it('is adopted at the first install, and each upgrade gives one rollout, ours only if it is not the owner’s', async () => {
    await space.apply(...chart('1', '1'));
    const upgrade = (config: string, checksum: string) => (): Promise<unknown> =>
      space.apply(...chart(config, checksum));
    expect(await rolloutsBy(async () => undefined)).toBe(0);
    expect(await rolloutsBy(upgrade('2', '2')), 'all').toBe(1);
    expect(await rolloutsBy(upgrade('3', '2')), 'the sources').toBe(1);
    expect(await rolloutsBy(upgrade('3', '4')), 'the pod template').toBe(1);
    expect(await rolloutsBy(upgrade('5', '4')), 'the sources again').toBe(1);
    const replace = (): Promise<unknown> => space.client.put(space.path(ref), chart('5', '4')[2]);
    expect(await rolloutsBy(replace), 'the whole workload, marker and record with it').toBe(1);
    expect(markerVariables(await space.get(ref))).toEqual({});
    expect(await rolloutsBy(upgrade('1', '1')), 'back to the first').toBe(1);
    const reasons = (await reroll.outcomes(space, ref)).map(({ reason }) => reason);
    expect(reasons.filter((reason) => reason === 'Reloaded')).toHaveLength(2);
    expect(reasons).toContain('BroughtByOwner');
  });
});
