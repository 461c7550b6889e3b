import { beforeAll, describe, expect, it } from 'vitest';
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
import { startReroll, type Reroll, type RerollOptions } from '../support/reroll.ts';
import { RolloutCount, inStep, recordOf, settled } from '../support/objects/rollouts.ts';

const USES: Readonly<Record<Ref, readonly Ref[]>> = {
  'Deployment/api': ['ConfigMap/cm', 'Secret/keys'],
  'StatefulSet/db': ['ConfigMap/cm'],
  'DaemonSet/agent': ['Secret/keys'],
  'Deployment/named': ['ConfigMap/cm'],
};
const REFS = [...Object.keys(USES), 'Deployment/silent'];
const NONE = Object.fromEntries(REFS.map((ref) => [ref, 0]));
/** What a change of the ConfigMap rolls. */
const BY_CM = { ...NONE, 'Deployment/api': 1, 'StatefulSet/db': 1, 'Deployment/named': 1 };

const DATA = { key: '1' };
const PRESENT = markerHash('ConfigMap', { data: DATA });
const FORMER = markerHash('ConfigMap', { data: { key: '0' } });
const MARKED: readonly Ref[] = ['Deployment/by-variable', 'Deployment/by-annotation'];

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

async function countsOf(space: Space, refs: readonly Ref[]): Promise<() => Promise<Record<Ref, number>>> {
  const each = await Promise.all(refs.map((ref) => RolloutCount.from(space, ref)));
  return async () =>
    Object.fromEntries(
      await Promise.all(refs.map(async (ref, index) => [ref, (await each[index]?.now()) ?? -1] as const)),
    );
}

async function allInStep(space: Space): Promise<void> {
  for (const [ref, sources] of Object.entries(USES)) await inStep(space, ref, sources);
}

/** Marked by the incumbent in either strategy; the ConfigMap was written after them. */
async function putMarked(space: Space, hash: string): Promise<void> {
  const from = { kind: 'ConfigMap', namespace: space.name, name: 'cm', hash } as const;
  const text = lastReloadedFrom({ ...from, containerRefs: ['app'], observedAt: 1_700_000_000 });
  const annotation = podAnnotated({ 'reloader.stakater.com/last-reloaded-from': text });
  await space.apply(
    deployment('by-variable', auto(), usingEnvFrom('cm'), variable('STAKATER_CM_CONFIGMAP', hash)),
    deployment('by-annotation', auto(), usingEnvFrom('cm'), annotation),
  );
  await space.apply(configMap('cm', DATA));
}

/** With what is in them before the install comes. */
const spaces = {} as Record<'shop' | 'current' | 'missed' | 'pods' | 'sources' | 'workloads', Space>;
let shopCounts: () => Promise<Record<Ref, number>>;
let currentCounts: () => Promise<Record<Ref, number>>;
let missedCounts: () => Promise<Record<Ref, number>>;
let reroll: Reroll;

async function start(more: Partial<RerollOptions> = {}): Promise<Reroll> {
  return await startReroll({ cluster: sharedCluster(), namespaces: Object.values(spaces), ...more });
}

beforeAll(async () => {
  for (const name of ['shop', 'current', 'missed', 'pods', 'sources', 'workloads'] as const)
    spaces[name] = await namespace(connect(sharedCluster()));
  await spaces.shop.apply(...shop());
  await putMarked(spaces.current, PRESENT);
  await putMarked(spaces.missed, FORMER);
  await spaces.pods.apply(
    configMap('cm', DATA),
    deployment('on-pod', podAnnotated({ 'reloader.stakater.com/auto': 'true' }), usingEnvFrom('cm')),
    deployment('off', annotated({ 'reloader.stakater.com/auto': 'false' }), usingEnvFrom('cm')),
  );
  shopCounts = await countsOf(spaces.shop, REFS);
  currentCounts = await countsOf(spaces.current, MARKED);
  missedCounts = await countsOf(spaces.missed, MARKED);
  reroll = await start();
});

describe('installing beside workloads that are there already', () => {
  it('rolls nothing and records what they use; those that did not ask are left alone', async () => {
    await allInStep(spaces.shop);
    await settled(reroll, spaces.shop);
    expect(await shopCounts()).toEqual(NONE);
    const silent = await spaces.shop.get('Deployment/silent');
    expect(silent.metadata.annotations).not.toHaveProperty('reroll.dev/applied');
    for (const ref of Object.keys(USES)) {
      expect((await reroll.outcomes(spaces.shop, ref)).map(({ state }) => state)).not.toContain('reloaded');
    }
  });

  it('rolls for the first change after that, and for no more than it', async () => {
    await spaces.shop.setData('ConfigMap/cm', { key: '2' });
    await allInStep(spaces.shop);
    await settled(reroll, spaces.shop);
    expect(await shopCounts()).toEqual(BY_CM);
  });
});

describe('migrating from stakater/Reloader', () => {
  it('rolls nothing: what the marker says is what is there', async () => {
    await isListedAs('current', 'Adopted');
    expect(Object.values(await currentCounts())).toEqual([0, 0]);
  });

  it('rolls nothing if the incumbent missed a change, and says so', async () => {
    await isListedAs('missed', 'StaleAtAdoption');
    expect(Object.values(await missedCounts())).toEqual([0, 0]);
  });

  it('understands an existing installation: its annotations on the pod template too', async () => {
    await inStep(spaces.pods, 'Deployment/on-pod', ['ConfigMap/cm']);
    await settled(reroll, spaces.pods);
    expect(recordOf(await spaces.pods.get('Deployment/off'))).toEqual({});
  });

  it('rolls, with --adopt-stale=reload, what the incumbent missed, once', async () => {
    const space = await namespace(connect(sharedCluster()));
    await putMarked(space, FORMER);
    const rollouts = await countsOf(space, MARKED);
    const own = await start({ namespaces: [space], workerFlags: ['--adopt-stale=reload'] });
    for (const ref of MARKED) await inStep(space, ref, ['ConfigMap/cm']);
    await settled(own, space);
    expect(Object.values(await rollouts())).toEqual([1, 1]);
  });

  async function isListedAs(name: 'current' | 'missed', reason: string): Promise<void> {
    const space = spaces[name];
    for (const ref of MARKED) await inStep(space, ref, ['ConfigMap/cm']);
    await settled(reroll, space);
    for (const ref of MARKED)
      expect((await reroll.outcomes(space, ref))[0]).toMatchObject({ state: 'recorded', reason });
  }
});

it('a record that somebody strips is written again, and nothing is rolled for that', async () => {
  const rollouts = await countsOf(spaces.shop, REFS);
  for (const ref of Object.keys(USES)) await spaces.shop.annotate(ref, { 'reroll.dev/applied': null });
  await allInStep(spaces.shop);
  await settled(reroll, spaces.shop);
  expect(await rollouts()).toEqual(NONE);
});

it('a workload that begins to ask is adopted then, and rolled for what comes later', async () => {
  const { shop: space } = spaces;
  const rollouts = await RolloutCount.from(space, 'Deployment/silent');
  await space.annotate('Deployment/silent', { 'reloader.stakater.com/auto': 'true' });
  await inStep(space, 'Deployment/silent', ['ConfigMap/cm']);
  await settled(reroll, space);
  expect(await rollouts.now()).toBe(0);
  await space.setData('ConfigMap/cm', { key: '3' });
  await inStep(space, 'Deployment/silent', ['ConfigMap/cm']);
  expect(await rollouts.now()).toBe(1);
  await space.annotate('Deployment/silent', { 'reloader.stakater.com/auto': null });
  await space.setData('ConfigMap/cm', { key: '4' });
  await settled(reroll, space);
  expect(await rollouts.now()).toBe(1);
});

it('what is installed while no watcher runs is recorded and not rolled, its sources or its workloads created first', async () => {
  const gap = [spaces.sources, spaces.workloads];
  for (const space of gap) await settled(reroll, space);
  await Promise.all(reroll.watchers.map((watcher) => watcher.stop()));
  await spaces.sources.apply(...shop());
  await spaces.workloads.apply(...shop().toReversed());
  const counts = await Promise.all(gap.map((space) => countsOf(space, REFS)));
  await reroll.start('watcher').ready();
  const rolled = async (): Promise<unknown> => {
    for (const space of gap) {
      await allInStep(space);
      await settled(reroll, space);
    }
    return await Promise.all(counts.map((rollouts) => rollouts()));
  };
  expect(await rolled()).toEqual([NONE, NONE]);
  for (const space of gap) await space.setData('ConfigMap/cm', { key: '2' });
  expect(await rolled()).toEqual([BY_CM, BY_CM]);
});

describe('starting everything anew', () => {
  it('rolls nothing for a second install beside the first one, which finds its records', async () => {
    const rollouts = await countsOf(spaces.shop, REFS);
    const second = await start();
    await settled(second, spaces.shop);
    expect(await rollouts()).toEqual(NONE);
    await second.stop();
  });

  it('rolls nothing, though nothing changed, and again rolls for a change', async () => {
    const { shop: space } = spaces;
    await settled(reroll, space);
    await reroll.stop();
    const rollouts = await countsOf(space, REFS);
    const again = await start({ install: reroll.install });
    await settled(again, space);
    expect(await rollouts()).toEqual(NONE);
    await space.setData('ConfigMap/cm', { key: '5' });
    await allInStep(space);
    expect(await rollouts()).toEqual(BY_CM);
  });
});
