import { beforeAll, describe, expect, it } from 'vitest';
import { markerHash } from '@reroll/core/marker/marker-hash';
import { lastReloadedFrom } from '@reroll/core/marker/last-reloaded-from';
import {
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
import { RolloutCount, countRollouts, inStep, settled } from '../support/objects/rollouts.ts';

const USES: Readonly<Record<Ref, readonly Ref[]>> = {
  'Deployment/api': ['ConfigMap/cm', 'Secret/keys'],
  'StatefulSet/db': ['ConfigMap/cm'],
  'DaemonSet/agent': ['Secret/keys'],
  'Deployment/named': ['ConfigMap/cm'],
};
const REFS = [...Object.keys(USES), 'Deployment/silent'];
const NONE = REFS.map(() => 0);
/** What a change of the ConfigMap reloads. */
const BY_CM = [1, 1, 0, 1, 0];

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
const spaces = {} as Record<'shop' | 'current' | 'missed' | 'sources' | 'workloads', Space>;
const counts = {} as Record<'shop' | 'current' | 'missed', () => Promise<number[]>>;
let reroll: Reroll;

async function start(more: Partial<RerollOptions> = {}): Promise<Reroll> {
  return await startReroll({ cluster: sharedCluster(), namespaces: Object.values(spaces), ...more });
}

beforeAll(async () => {
  for (const name of ['shop', 'current', 'missed', 'sources', 'workloads'] as const)
    spaces[name] = await namespace(connect(sharedCluster()));
  await spaces.shop.apply(...shop());
  await putMarked(spaces.current, PRESENT);
  await putMarked(spaces.missed, FORMER);
  counts.shop = await countRollouts(spaces.shop, REFS);
  for (const name of ['current', 'missed'] as const) counts[name] = await countRollouts(spaces[name], MARKED);
  reroll = await start();
});

describe('installing beside workloads that are there already', () => {
  it('reloads nothing and records what they use; those that did not ask are left alone', async () => {
    await allInStep(spaces.shop);
    await settled(reroll, spaces.shop);
    expect(await counts.shop()).toEqual(NONE);
    const silent = await spaces.shop.get('Deployment/silent');
    expect(silent.metadata.annotations).not.toHaveProperty('reroll.dev/applied');
  });

  it('reloads for the first change after that, and for no more than it', async () => {
    await spaces.shop.setData('ConfigMap/cm', { key: '2' });
    await allInStep(spaces.shop);
    await settled(reroll, spaces.shop);
    expect(await counts.shop()).toEqual(BY_CM);
  });
});

it.each([
  ['says what is there', 'current', 'Adopted'],
  ['says that it missed a change', 'missed', 'StaleAtAdoption'],
] as const)('reloads nothing where the marker of stakater/Reloader %s', async (_, name, reason) => {
  const space = spaces[name];
  for (const ref of MARKED) await inStep(space, ref, ['ConfigMap/cm']);
  await settled(reroll, space);
  for (const ref of MARKED)
    expect((await reroll.outcomes(space, ref))[0]).toMatchObject({ state: 'recorded', reason });
  expect(await counts[name]()).toEqual([0, 0]);
});

it('a record that somebody strips is written again, and nothing is reloaded for that', async () => {
  const rollouts = await countRollouts(spaces.shop, REFS);
  for (const ref of Object.keys(USES)) await spaces.shop.annotate(ref, { 'reroll.dev/applied': null });
  await allInStep(spaces.shop);
  await settled(reroll, spaces.shop);
  expect(await rollouts()).toEqual(NONE);
});

it('a workload that begins to ask is adopted then, and reloaded for what comes later', async () => {
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

it('what is installed while no watcher runs is recorded and not reloaded, its sources or its workloads created first', async () => {
  const gap = [spaces.sources, spaces.workloads];
  for (const space of gap) await settled(reroll, space);
  let each: readonly (() => Promise<number[]>)[] = [];
  await reroll.replace('watcher', async () => {
    await spaces.sources.apply(...shop());
    await spaces.workloads.apply(...shop().toReversed());
    each = await Promise.all(gap.map((space) => countRollouts(space, REFS)));
  });
  const rolled = async (): Promise<unknown> => {
    for (const space of gap) {
      await allInStep(space);
      await settled(reroll, space);
    }
    return await Promise.all(each.map((rollouts) => rollouts()));
  };
  expect(await rolled()).toEqual([NONE, NONE]);
  for (const space of gap) await space.setData('ConfigMap/cm', { key: '2' });
  expect(await rolled()).toEqual([BY_CM, BY_CM]);
});

describe('starting everything anew', () => {
  it('reloads nothing for a second install beside the first one, which finds its records, and with --adopt-stale=reload once what the incumbent missed', async () => {
    const space = await namespace(connect(sharedCluster()));
    await putMarked(space, FORMER);
    const rollouts = await countRollouts(spaces.shop, REFS);
    const missed = await countRollouts(space, MARKED);
    const namespaces = [space, ...Object.values(spaces)];
    const second = await start({ namespaces, workerFlags: ['--adopt-stale=reload'] });
    for (const ref of MARKED) await inStep(space, ref, ['ConfigMap/cm']);
    await settled(second, space);
    await settled(second, spaces.shop);
    expect(await missed()).toEqual([1, 1]);
    expect(await rollouts()).toEqual(NONE);
    await second.stop();
  });

  it('reloads nothing, though nothing changed, and again reloads for a change', async () => {
    const { shop: space } = spaces;
    await settled(reroll, space);
    await reroll.stop();
    const rollouts = await countRollouts(space, REFS);
    const again = await start({ install: reroll.install });
    await settled(again, space);
    expect(await rollouts()).toEqual(NONE);
    await space.setData('ConfigMap/cm', { key: '5' });
    await allInStep(space);
    expect(await rollouts()).toEqual(BY_CM);
  });
});
