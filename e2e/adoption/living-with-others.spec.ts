import { beforeAll, describe, expect, it } from 'vitest';
import {
  auto,
  configMap,
  deployment,
  podAnnotated,
  replicas,
  usingEnvFrom,
} from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import { CommandLine } from '../support/admin/command-line.ts';
import { connect, namespace, type KubeObject, type Manifest, type Space } from '../support/kube.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import {
  RolloutCount,
  inStep,
  markerAnnotation,
  markerVariables,
  settled,
} from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';

const CM = ['ConfigMap/cm'];
const SERVER_SIDE = ['--server-side', '--field-manager=owner'];

function manifest(name: string, note: string, inTemplate = 'as it was'): Manifest {
  const edit = podAnnotated({ note: inTemplate });
  const value = deployment(name, auto(), usingEnvFrom('cm'), replicas(1), edit) as Manifest & {
    metadata: { annotations: Record<string, string> };
  };
  value.metadata.annotations['note'] = note;
  return value;
}

interface Owner {
  readonly name: string;
  readonly create: (by: CommandLine) => Promise<void>;
  readonly act: (by: CommandLine) => Promise<void>;
  /** Another pod template. */
  readonly edit: (by: CommandLine) => Promise<void>;
}

/** Whether it has the marker of the ConfigMap, in either strategy. */
function isMarked(object: KubeObject): boolean {
  const names = Object.keys(markerVariables(object)['app'] ?? {});
  return names.join() === 'STAKATER_CM_CONFIGMAP' || markerAnnotation(object)?.name === 'cm';
}

const OWNERS: Readonly<Record<string, Owner>> = {
  'kubectl apply': {
    name: 'applied',
    create: (by) => by.apply(manifest('applied', '0')),
    act: (by) => by.apply(manifest('applied', '1')),
    edit: (by) => by.apply(manifest('applied', '1', 'edited')),
  },
  'kubectl apply --server-side': {
    name: 'server-side',
    create: (by) => by.apply(manifest('server-side', '0'), ...SERVER_SIDE),
    act: (by) => by.apply(manifest('server-side', '1'), ...SERVER_SIDE),
    edit: (by) => by.apply(manifest('server-side', '1', 'edited'), ...SERVER_SIDE),
  },
  'helm upgrade': {
    name: 'upgraded',
    create: (by) => by.upgrade(manifest('upgraded', '0')),
    act: (by) => by.upgrade(manifest('upgraded', '1')),
    edit: (by) => by.upgrade(manifest('upgraded', '1', 'edited')),
  },
  'helm rollback': {
    name: 'rolled-back',
    create: async (by) => {
      await by.upgrade(manifest('rolled-back', '0', 'edited'));
      await by.upgrade(manifest('rolled-back', '0'));
      await by.upgrade(manifest('rolled-back', '1'));
    },
    act: (by) => by.helm('rollback', 'rolled-back', '2'),
    edit: (by) => by.helm('rollback', 'rolled-back', '1'),
  },
};

describe.each(['env-vars', 'annotations'])('after a reload with the strategy %s', (strategy) => {
  let space: Space;
  let reroll: Reroll;
  let commandLine: CommandLine;

  beforeAll(async () => {
    const cluster = sharedCluster();
    space = await namespace(connect(cluster));
    commandLine = await CommandLine.open(cluster, space);
    await space.apply(configMap('cm', { v: '0' }));
    for (const { create } of Object.values(OWNERS)) await create(commandLine);
    await commandLine.apply(manifest('undone', '0'));
    const names = [...Object.values(OWNERS).map(({ name }) => name), 'undone'];
    const workerFlags = [`--reload-strategy=${strategy}`];
    reroll = await startReroll({ cluster, namespaces: [space], workerFlags });
    for (const name of names) await inStep(space, `Deployment/${name}`, CM);
    await space.setData('ConfigMap/cm', { v: '1' });
    for (const name of names) await inStep(space, `Deployment/${name}`, CM);
    await settled(reroll, space);
  }, 1_800_000);

  it.each(Object.entries(OWNERS))(
    '%s leaves the marker alone and is followed by no rollout',
    async (_, { name, act }) => {
      const ref = `Deployment/${name}`;
      const before = await space.get(ref);
      const rollouts = await RolloutCount.from(space, ref);
      await act(commandLine);
      const after = await space.get(ref);
      expect(after.metadata.annotations?.['note']).not.toBe(before.metadata.annotations?.['note']);
      expect(isMarked(after)).toBe(true);
      expect(after.spec.template).toEqual(before.spec.template);
      await settled(reroll, space);
      expect(await rollouts.now()).toBe(0);
    },
  );

  it.each(Object.entries(OWNERS))(
    '%s with another pod template leaves the marker in it, and its own rollout is followed by none of ours',
    async (_, { name, edit }) => {
      const ref = `Deployment/${name}`;
      const rollouts = await RolloutCount.from(space, ref);
      await edit(commandLine);
      const after = await space.get(ref);
      expect(after.spec.template.metadata?.annotations).toMatchObject({ note: 'edited' });
      expect(isMarked(after)).toBe(true);
      await settled(reroll, space);
      expect(await rollouts.now()).toBe(1);
    },
  );

  it('kubectl rollout undo takes the marker away by one rollout of its own, which is followed by none of ours', async () => {
    const ref = 'Deployment/undone';
    const rollouts = await RolloutCount.from(space, ref);
    await eventually(async () => {
      const { metadata } = await space.get(ref);
      return metadata.annotations?.['deployment.kubernetes.io/revision'] === '2';
    });
    await commandLine.kubectl('rollout', 'undo', 'deployment/undone');
    expect(isMarked(await space.get(ref))).toBe(false);
    await settled(reroll, space);
    expect(await rollouts.now()).toBe(1);
    await space.setData('ConfigMap/cm', { v: '2' });
    const after = await inStep(space, ref, CM);
    expect(isMarked(after)).toBe(true);
    await settled(reroll, space);
    expect(await rollouts.now()).toBe(2);
  });
});
