import { beforeAll, expect, it } from 'vitest';
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
} from './support/builders.ts';
import { sharedCluster } from './support/cluster.ts';
import { connect, namespace, type Ref, type Space } from './support/kube.ts';
import { startReroll, type Reroll } from './support/reroll.ts';
import { RolloutCount, inStep, recordOf, settled } from './support/rollouts.ts';
import { eventually } from './support/wait.ts';

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
