import { beforeEach, describe, expect, it } from 'vitest';
import { markerHash } from '@reroll/core/marker/marker-hash';
import { lastReloadedFrom } from '@reroll/core/marker/last-reloaded-from';
import {
  annotated,
  auto,
  configMap,
  daemonSet,
  deployment,
  naming,
  podAnnotated,
  secret,
  statefulSet,
  usingEnvFrom,
  usingEnvKey,
  usingVolume,
  variable,
} from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type Manifest, type Ref, type Space } from '../support/kube.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import { RolloutCount, inStep, recordOf, settled } from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';

let space: Space;

beforeEach(async () => {
  space = await namespace(connect(sharedCluster()));
});

const USES: Readonly<Record<Ref, readonly Ref[]>> = {
  'Deployment/api': ['ConfigMap/cm', 'Secret/keys'],
  'StatefulSet/db': ['ConfigMap/cm'],
  'DaemonSet/agent': ['Secret/keys'],
  'Deployment/named': ['ConfigMap/cm'],
};

function shop(): Manifest[] {
  return [
    configMap('cm', { key: '1' }),
    secret('keys', { key: '1' }),
    deployment('api', auto(), usingEnvFrom('cm'), usingVolume('Secret/keys')),
    statefulSet('db', auto(), usingVolume('cm')),
    daemonSet('agent', auto(), usingEnvKey('Secret/keys')),
    deployment('named', naming('c.')),
    deployment('silent', usingEnvFrom('cm')),
  ];
}

async function counts(): Promise<() => Promise<Record<Ref, number>>> {
  const refs = [...Object.keys(USES), 'Deployment/silent'];
  const each = await Promise.all(refs.map((ref) => RolloutCount.from(space, ref)));
  return async () =>
    Object.fromEntries(
      await Promise.all(refs.map(async (ref, index) => [ref, (await each[index]?.now()) ?? -1] as const)),
    );
}

const NONE = Object.fromEntries([...Object.keys(USES), 'Deployment/silent'].map((ref) => [ref, 0]));

async function allInStep(): Promise<void> {
  for (const [ref, sources] of Object.entries(USES)) await inStep(space, ref, sources);
}

async function start(install?: Reroll, flags: readonly string[] = []): Promise<Reroll> {
  return await startReroll({
    cluster: sharedCluster(),
    namespaces: [space],
    flags,
    ...(install ? { install: install.install } : {}),
  });
}

describe('installing beside workloads that are there already', () => {
  it('rolls nothing and records what they use; those that did not ask are left alone', async () => {
    await space.apply(...shop());
    const rollouts = await counts();
    const reroll = await start();
    await allInStep();
    await settled(reroll, space);
    expect(await rollouts()).toEqual(NONE);
    expect((await space.get('Deployment/silent')).metadata.annotations).not.toHaveProperty(
      'reroll.dev/applied',
    );
    for (const ref of Object.keys(USES)) {
      expect((await reroll.outcomes(space, ref)).map(({ state }) => state)).not.toContain('reloaded');
    }
  });

  it('rolls for the first change after that, and for no more than it', async () => {
    await space.apply(...shop());
    const rollouts = await counts();
    const reroll = await start();
    await allInStep();
    await space.setData('ConfigMap/cm', { key: '2' });
    await allInStep();
    await settled(reroll, space);
    expect(await rollouts()).toEqual({
      'Deployment/api': 1,
      'StatefulSet/db': 1,
      'DaemonSet/agent': 0,
      'Deployment/named': 1,
      'Deployment/silent': 0,
    });
  });

  it('records no faster than --adoptions-per-second', async () => {
    await space.apply(...shop());
    const began = performance.now();
    await startReroll({ cluster: sharedCluster(), namespaces: [space], adoptionsPerSecond: 1 });
    await allInStep();
    expect(performance.now() - began).toBeGreaterThan(2_500);
  });
});

describe('starting everything anew', () => {
  it('rolls nothing, though nothing changed, and again rolls for a change', async () => {
    await space.apply(...shop());
    const first = await start();
    await allInStep();
    await space.setData('Secret/keys', { key: '2' });
    await allInStep();
    await settled(first, space);
    await first.stop();
    const rollouts = await counts();
    const second = await start(first);
    await settled(second, space);
    await second.stop();
    const third = await start(first);
    await settled(third, space);
    expect(await rollouts()).toEqual(NONE);
    await space.setData('ConfigMap/cm', { key: '3' });
    await allInStep();
    expect(await rollouts()).toMatchObject({
      'Deployment/api': 1,
      'StatefulSet/db': 1,
      'DaemonSet/agent': 0,
    });
  });

  it('rolls nothing for a second install beside the first one, which finds its records', async () => {
    await space.apply(...shop());
    const first = await start();
    await allInStep();
    await settled(first, space);
    const rollouts = await counts();
    const second = await start();
    await settled(second, space);
    expect(await rollouts()).toEqual(NONE);
  });
});

describe('migrating from stakater/Reloader', () => {
  const DATA = { key: '1' };
  const PRESENT = markerHash('ConfigMap', { data: DATA });
  const FORMER = markerHash('ConfigMap', { data: { key: '0' } });

  function marker(hash: string): string {
    const from = { kind: 'ConfigMap', namespace: space.name, name: 'cm', hash } as const;
    return lastReloadedFrom({ ...from, containerRefs: ['app'], observedAt: 1_700_000_000 });
  }

  /** Marked by the incumbent in either strategy; the ConfigMap was written after them. */
  async function marked(hash: string): Promise<readonly Ref[]> {
    await space.apply(
      deployment('by-variable', auto(), usingEnvFrom('cm'), variable('STAKATER_CM_CONFIGMAP', hash)),
      deployment(
        'by-annotation',
        auto(),
        usingEnvFrom('cm'),
        podAnnotated({ 'reloader.stakater.com/last-reloaded-from': marker(hash) }),
      ),
    );
    await space.apply(configMap('cm', DATA));
    return ['Deployment/by-variable', 'Deployment/by-annotation'];
  }

  it('rolls nothing: what the marker says is what is there', async () => {
    const refs = await marked(PRESENT);
    const rollouts = await Promise.all(refs.map((ref) => RolloutCount.from(space, ref)));
    const reroll = await start();
    for (const ref of refs) await inStep(space, ref, ['ConfigMap/cm']);
    await settled(reroll, space);
    expect(await Promise.all(rollouts.map((each) => each.now()))).toEqual([0, 0]);
    for (const ref of refs) {
      expect((await reroll.outcomes(space, ref))[0]).toMatchObject({ state: 'recorded', reason: 'Adopted' });
    }
  });

  it('rolls nothing if the incumbent missed a change, and says so', async () => {
    const refs = await marked(FORMER);
    const rollouts = await Promise.all(refs.map((ref) => RolloutCount.from(space, ref)));
    const reroll = await start();
    for (const ref of refs) await inStep(space, ref, ['ConfigMap/cm']);
    await settled(reroll, space);
    expect(await Promise.all(rollouts.map((each) => each.now()))).toEqual([0, 0]);
    for (const ref of refs) {
      expect((await reroll.outcomes(space, ref))[0]).toMatchObject({
        state: 'recorded',
        reason: 'StaleAtAdoption',
      });
    }
  });

  it('rolls, with --adopt-stale=reload, what the incumbent missed, once', async () => {
    const refs = await marked(FORMER);
    const rollouts = await Promise.all(refs.map((ref) => RolloutCount.from(space, ref)));
    const reroll = await startReroll({
      cluster: sharedCluster(),
      namespaces: [space],
      workerFlags: ['--adopt-stale=reload'],
    });
    for (const ref of refs) await inStep(space, ref, ['ConfigMap/cm']);
    await settled(reroll, space);
    expect(await Promise.all(rollouts.map((each) => each.now()))).toEqual([1, 1]);
  });

  it('understands an existing installation: its annotations on the pod template too', async () => {
    await space.apply(
      configMap('cm', DATA),
      deployment('on-pod', podAnnotated({ 'reloader.stakater.com/auto': 'true' }), usingEnvFrom('cm')),
      deployment('off', annotated({ 'reloader.stakater.com/auto': 'false' }), usingEnvFrom('cm')),
    );
    const reroll = await start();
    await inStep(space, 'Deployment/on-pod', ['ConfigMap/cm']);
    await settled(reroll, space);
    expect(recordOf(await space.get('Deployment/off'))).toEqual({});
  });
});

it.each(['sources', 'workloads'])(
  'what is installed while no watcher runs is recorded and not rolled, its %s created first',
  async (first) => {
    const reroll = await startReroll({ cluster: sharedCluster(), namespaces: [space] });
    await settled(reroll, space);
    await Promise.all(reroll.watchers.map((watcher) => watcher.stop()));
    const objects = shop();
    await space.apply(...(first === 'sources' ? objects : objects.toReversed()));
    const rollouts = await counts();
    await reroll.start('watcher').ready();
    for (const [ref, uses] of Object.entries(USES)) await inStep(space, ref, uses);
    await settled(reroll, space);
    expect(await rollouts()).toEqual(NONE);
    await space.setData('ConfigMap/cm', { key: '2' });
    for (const [ref, uses] of Object.entries(USES)) await inStep(space, ref, uses);
    await settled(reroll, space);
    expect(await rollouts()).toEqual({
      ...NONE,
      'Deployment/api': 1,
      'StatefulSet/db': 1,
      'Deployment/named': 1,
    });
  },
);

it('a record that somebody strips is written again, and nothing is rolled for that', async () => {
  await space.apply(...shop());
  const reroll = await start();
  await allInStep();
  const rollouts = await counts();
  for (const ref of Object.keys(USES)) await space.annotate(ref, { 'reroll.dev/applied': null });
  await eventually(async () => recordOf(await space.get('Deployment/api'))['ConfigMap/cm'] !== undefined);
  await allInStep();
  await settled(reroll, space);
  expect(await rollouts()).toEqual(NONE);
});

it('a workload that begins to ask is adopted then, and rolled for what comes later', async () => {
  await space.apply(...shop());
  const reroll = await start();
  await allInStep();
  const rollouts = await RolloutCount.from(space, 'Deployment/silent');
  await space.annotate('Deployment/silent', { 'reloader.stakater.com/auto': 'true' });
  await inStep(space, 'Deployment/silent', ['ConfigMap/cm']);
  await settled(reroll, space);
  expect(await rollouts.now()).toBe(0);
  await space.setData('ConfigMap/cm', { key: '2' });
  await inStep(space, 'Deployment/silent', ['ConfigMap/cm']);
  expect(await rollouts.now()).toBe(1);
  await space.annotate('Deployment/silent', { 'reloader.stakater.com/auto': null });
  await space.setData('ConfigMap/cm', { key: '3' });
  await settled(reroll, space);
  expect(await rollouts.now()).toBe(1);
});
