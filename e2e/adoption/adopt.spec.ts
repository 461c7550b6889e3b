import { beforeAll, expect, it } from 'vitest';
import {
  annotated,
  configMap,
  daemonSet,
  deployment,
  podAnnotated,
  secret,
  source,
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
import { countRollouts, inStep, recordOf, settled } from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';

const WAVE = { 'wave.pusher.com/update-on-config-change': 'true' };
const EXTRA = { ...WAVE, 'wave.pusher.com/extra-secrets': 'keys,elsewhere/other' };
const TRIGGER = { 'trigger.k8s.io/triggering-secrets': 'keys,tls' };

/** What reloads each of them. */
const USES: Readonly<Record<Ref, readonly Ref[]>> = {
  'Deployment/fabric8': ['ConfigMap/cm'],
  'Deployment/trigger': ['Secret/keys'],
  'Deployment/wave': ['ConfigMap/cm'],
  'StatefulSet/wave': ['Secret/keys'],
  'DaemonSet/wave-extra': ['ConfigMap/cm', 'Secret/keys'],
};
const REFS = Object.keys(USES);

/** The annotation that names a source, its kind, and what else Wave follows. */
const SYSTEMS: readonly (readonly [string, OldSystem, Readonly<Record<string, string>>, string])[] = [
  ['fabric8', configmapController, { 'configmap.fabric8.io/update-on-change': 'SOURCE' }, 'ConfigMap'],
  ['trigger', triggerController, { 'trigger.k8s.io/triggering-secrets': 'SOURCE' }, 'Secret'],
  ['wave', wave, { ...WAVE, 'wave.pusher.com/extra-secrets': 'SOURCE' }, 'Secret'],
];

/** When the source of a workload was written last: before it, after it and seen by the old system, or after that. */
const LEFT = SYSTEMS.flatMap(([system, reloads, annotations, kind]) =>
  ['older', 'newer', 'gap'].map((when) => {
    const name = `${system}-${when}`;
    const ref = `${kind}/${name}`;
    const sources = [ref, ...(system === 'wave' ? ['ConfigMap/shared'] : [])];
    const own = Object.entries(annotations).map(([key, value]) => [key, value.replace('SOURCE', name)]);
    return { name, when, ref, sources, reloads, annotations: Object.fromEntries(own) };
  }),
);

/** Every old system has reloaded for what was there; then it ends, and the sources of `gap` change. */
async function left(): Promise<Space> {
  const there = await namespace(connect(sharedCluster()));
  const written = async (ref: Ref, value: string): Promise<unknown> =>
    await there.setData(ref, { key: value, other: 'x&<y>' });
  await there.apply(configMap('shared', { key: '1' }));
  for (const { name, ref, annotations } of LEFT) {
    const uses = [usingVolume(ref), usingEnvFrom('shared')];
    await there.apply(source(ref, { key: '1' }), deployment(name, annotated(annotations), ...uses));
  }
  const { creationTimestamp } = (await there.get('Deployment/wave-gap')).metadata;
  await eventually(() => Math.floor(Date.now() / 1000) > Date.parse(creationTimestamp) / 1000);
  for (const { name, when, ref, sources, reloads } of LEFT) {
    if (when !== 'older') await written(ref, '2');
    await reloads(there, `Deployment/${name}`, sources);
    if (when === 'gap') await written(ref, '3');
  }
  return there;
}

/** With what the old systems left. */
let former: Space;
let ofFormer: () => Promise<number[]>;
let space: Space;
let reroll: Reroll;
let rollouts: () => Promise<number[]>;

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
  rollouts = await countRollouts(space, REFS);
  former = await left();
  ofFormer = await countRollouts(
    former,
    LEFT.map(({ name }) => `Deployment/${name}`),
  );
  const flags = ['--adopt=fabric8,trigger,wave'];
  reroll = await startReroll({ cluster, namespaces: [space, former], flags });
});

it('every workload is taken over without a rollout', async () => {
  for (const ref of REFS) await inStep(space, ref, USES[ref] ?? []);
  await settled(reroll, space);
  expect(await rollouts()).toEqual(REFS.map(() => 0));
  for (const ref of REFS) {
    expect(Object.keys(recordOf(await space.get(ref))), ref).toEqual(USES[ref]);
  }
});

it.each(['ConfigMap/cm', 'Secret/keys'])(
  'a change of %s reloads each that its annotations name, once',
  async (changed) => {
    const before = await rollouts();
    await space.setData(changed, { key: '2' });
    for (const ref of REFS) await inStep(space, ref, USES[ref] ?? []);
    await settled(reroll, space);
    const expected = REFS.map((ref, index) => (before[index] ?? 0) + (USES[ref]?.includes(changed) ? 1 : 0));
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

it('what an old system left tells whether the pods run the current data: those whose source changed since it ended are listed', async () => {
  for (const { name, sources } of LEFT) await inStep(former, `Deployment/${name}`, sources);
  await settled(reroll, former);
  expect(await ofFormer()).toEqual(LEFT.map(() => 0));
  const outcomes = await reroll.outcomes(former);
  const stale = outcomes.filter(({ reason }) => reason === 'StaleAtAdoption');
  const listed = stale.map(({ workload }) => workload.slice(workload.lastIndexOf('/') + 1));
  expect(listed.sort()).toEqual(['fabric8-gap', 'trigger-gap', 'wave-gap']);
});
