import { beforeAll, describe, expect, it } from 'vitest';
import {
  annotated,
  configMap,
  daemonSet,
  deployment,
  podAnnotated,
  secret,
  statefulSet,
  usingEnvFrom,
  usingVolume,
  variable,
} from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type Ref, type Space } from '../support/kube.ts';
import {
  configmapController,
  triggerController,
  wave,
  type OldSystem,
} from '../support/objects/old-systems.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import { RolloutCount, inStep, recordOf, settled } from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';

const WAVE = { 'wave.pusher.com/update-on-config-change': 'true' };
const EXTRA = { ...WAVE, 'wave.pusher.com/extra-secrets': 'keys,elsewhere/other' };
const TRIGGER = { 'trigger.k8s.io/triggering-secrets': 'keys,tls' };

/** What rolls each of them. */
const USES: Readonly<Record<Ref, readonly Ref[]>> = {
  'Deployment/fabric8': ['ConfigMap/cm'],
  'Deployment/trigger': ['Secret/keys'],
  'Deployment/wave': ['ConfigMap/cm'],
  'StatefulSet/wave': ['Secret/keys'],
  'DaemonSet/wave-extra': ['ConfigMap/cm', 'Secret/keys'],
};
const REFS = Object.keys(USES);

let space: Space;
let reroll: Reroll;
let counts: readonly RolloutCount[];

beforeAll(async () => {
  const cluster = sharedCluster();
  space = await namespace(connect(cluster));
  await space.apply(
    configMap('cm', { key: '1' }),
    secret('keys', { key: '1' }),
    deployment(
      'fabric8',
      annotated({ 'configmap.fabric8.io/update-on-change': 'cm' }),
      variable('FABRIC8_CM_CONFIGMAP', 'key=1'),
    ),
    // `tls` is named and no volume, so it never counted.
    deployment(
      'trigger',
      annotated(TRIGGER),
      usingVolume('Secret/keys'),
      podAnnotated({ 'trigger.k8s.io/secret-keys-last-hash': '0000' }),
    ),
    deployment(
      'wave',
      annotated(WAVE),
      usingEnvFrom('cm'),
      podAnnotated({ 'wave.pusher.com/config-hash': '00' }),
    ),
    statefulSet('wave', annotated(WAVE), usingVolume('Secret/keys')),
    daemonSet('wave-extra', annotated(EXTRA), usingEnvFrom('cm')),
  );
  await space.patch('Deployment/wave', {
    metadata: { finalizers: ['wave.pusher.com/finalizer'] },
    spec: { template: { spec: { schedulerName: 'wave.pusher.com/invalid' } } },
  });
  space.atEnd(() => space.patch('Deployment/wave', { metadata: { finalizers: null } }));
  const { uid } = (await space.get('StatefulSet/wave')).metadata;
  const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'wave', uid };
  await space.patch('Secret/keys', { metadata: { ownerReferences: [owner] } });
  counts = await Promise.all(REFS.map((ref) => RolloutCount.from(space, ref)));
  reroll = await startReroll({
    cluster,
    namespaces: [space],
    flags: ['--adopt=fabric8,trigger,wave'],
  });
});

async function rollouts(): Promise<number[]> {
  return await Promise.all(counts.map((count) => count.now()));
}

it('every workload is taken over without a rollout', async () => {
  for (const ref of REFS) await inStep(space, ref, USES[ref] ?? []);
  await settled(reroll, space);
  expect(await rollouts()).toEqual(REFS.map(() => 0));
  for (const ref of REFS) {
    expect(Object.keys(recordOf(await space.get(ref))), ref).toEqual(USES[ref]);
  }
});

it.each(['ConfigMap/cm', 'Secret/keys'])(
  'a change of %s rolls each that its annotations name, once',
  async (source) => {
    const before = await rollouts();
    await space.setData(source, { key: '2' });
    for (const ref of REFS) await inStep(space, ref, USES[ref] ?? []);
    await settled(reroll, space);
    const expected = REFS.map((ref, index) => (before[index] ?? 0) + (USES[ref]?.includes(source) ? 1 : 0));
    expect(await rollouts()).toEqual(expected);
  },
);

it.each([
  ['Deployment/wave', 'schedulerName wave.pusher.com/invalid'],
  ['Deployment/wave', 'finalizer wave.pusher.com/finalizer'],
  ['StatefulSet/wave', 'Secret/keys has an ownerReference'],
  ['DaemonSet/wave-extra', 'given "elsewhere/other"'],
])('the owner of %s is told what was left: %s', async (ref, text) => {
  const event = await eventually(async () =>
    (await space.events(ref)).find(
      ({ reason, message }) => reason === 'LeftBehind' && message.includes(text),
    ),
  );
  expect(event.type).toBe('Warning');
  const details = (await reroll.outcomes(space, ref)).map(({ detail = '' }) => detail);
  expect(details.some((detail) => detail.includes(text))).toBe(true);
});

it('without --adopt their annotations count for nothing', async () => {
  const other = await namespace(space.client);
  await other.apply(configMap('cm', { key: '1' }), deployment('wave', annotated(WAVE), usingEnvFrom('cm')));
  const plain = await startReroll({ cluster: sharedCluster(), namespaces: [other] });
  const count = await RolloutCount.from(other, 'Deployment/wave');
  await other.setData('ConfigMap/cm', { key: '2' });
  await settled(plain, other);
  expect(await count.now()).toBe(0);
  expect(recordOf(await other.get('Deployment/wave'))).toEqual({});
});

describe('what an old system left tells whether the pods run the present data', () => {
  const EXTRAS = { ...WAVE, 'wave.pusher.com/extra-secrets': 'SOURCE' };
  /** The annotation that names a source, its kind, and what else Wave follows. */
  const SYSTEMS: readonly (readonly [string, OldSystem, Readonly<Record<string, string>>, string])[] = [
    ['fabric8', configmapController, { 'configmap.fabric8.io/update-on-change': 'SOURCE' }, 'ConfigMap'],
    ['trigger', triggerController, { 'trigger.k8s.io/triggering-secrets': 'SOURCE' }, 'Secret'],
    ['wave', wave, EXTRAS, 'Secret'],
  ];
  /** When the source of a workload was written last: before it, after it and seen by the old system, or after that. */
  const CASES = ['older', 'newer', 'gap'] as const;

  const sourcesOf = (system: string, kind: string, name: string): Ref[] => [
    `${kind}/${name}`,
    ...(system === 'wave' ? ['ConfigMap/shared'] : []),
  ];

  async function eachOf(
    act: (one: { name: string; sources: Ref[]; system: (typeof SYSTEMS)[number] }) => Promise<unknown>,
  ): Promise<void> {
    for (const system of SYSTEMS) {
      for (const when of CASES) {
        const name = `${system[0]}-${when}`;
        await act({ name, sources: sourcesOf(system[0], system[3], name), system });
      }
    }
  }

  async function written(there: Space, ref: Ref, value: string): Promise<void> {
    await there.setData(ref, { key: value, other: 'x&<y>' });
  }

  /** Every old system has rolled for what was there; then it ends, and the sources of `gap` change. */
  async function left(): Promise<Space> {
    const there = await namespace(connect(sharedCluster()));
    await there.apply(configMap('shared', { key: '1' }));
    await eachOf(async ({ name, system: [, , annotations, kind] }) => {
      await there.apply(kind === 'Secret' ? secret(name, { key: '1' }) : configMap(name, { key: '1' }));
      const own = Object.entries(annotations).map(([key, value]) => [key, value.replace('SOURCE', name)]);
      const uses = [usingVolume(`${kind}/${name}`), usingEnvFrom('shared')];
      await there.apply(deployment(name, annotated(Object.fromEntries(own)), ...uses));
    });
    const { creationTimestamp } = (await there.get('Deployment/wave-gap')).metadata;
    await eventually(() => Math.floor(Date.now() / 1000) > Date.parse(creationTimestamp) / 1000);
    await eachOf(async ({ name, sources, system: [, rolls, , kind] }) => {
      if (!name.endsWith('older')) await written(there, `${kind}/${name}`, '2');
      await rolls(there, `Deployment/${name}`, sources);
    });
    await eachOf(async ({ name, system: [, , , kind] }) => {
      if (name.endsWith('gap')) await written(there, `${kind}/${name}`, '3');
    });
    return there;
  }

  it.each([
    ['report', 'lists those whose source changed since the old system ended, and no other', 0],
    ['reload', 'rolls those, once, and no other', 1],
  ] as const)('--adopt-stale=%s %s', async (adoptStale, _, expected) => {
    const there = await left();
    const names: string[] = [];
    await eachOf(async ({ name }) => names.push(name));
    const rolled = await Promise.all(names.map((name) => RolloutCount.from(there, `Deployment/${name}`)));
    const adopting = await startReroll({
      cluster: sharedCluster(),
      namespaces: [there],
      flags: ['--adopt=fabric8,trigger,wave'],
      workerFlags: [`--adopt-stale=${adoptStale}`],
    });
    await eachOf(({ name, sources }) => inStep(there, `Deployment/${name}`, sources));
    await settled(adopting, there);
    const gap = (name: string): boolean => name.endsWith('-gap');
    const counts = await Promise.all(rolled.map((each) => each.now()));
    expect(counts).toEqual(names.map((name) => (gap(name) ? expected : 0)));
    const outcomes = await adopting.outcomes(there);
    const stale = outcomes.filter(({ reason }) => reason === 'StaleAtAdoption');
    const listed = stale.map(({ workload }) => workload.slice(workload.lastIndexOf('/') + 1));
    expect(listed.sort()).toEqual(adoptStale === 'report' ? names.filter(gap).sort() : []);
    await adopting.stop();
  });
});
