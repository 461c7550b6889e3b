import { beforeAll, describe, expect, it } from 'vitest';
import { auto, configMap, deployment, replicas, usingEnvFrom } from './support/builders.ts';
import { sharedCluster } from './support/cluster.ts';
import { CommandLine } from './support/command-line.ts';
import { connect, namespace, type Manifest, type Space } from './support/kube.ts';
import { startReroll, type Reroll } from './support/reroll.ts';
import { RolloutCount, inStep, markerVariables, settled } from './support/rollouts.ts';
import { eventually } from './support/wait.ts';

const CM = ['ConfigMap/cm'];
const SERVER_SIDE = ['--server-side', '--field-manager=owner'];

function manifest(name: string, note: string): Manifest {
  const value = deployment(name, auto(), usingEnvFrom('cm'), replicas(1)) as Manifest & {
    metadata: { annotations: Record<string, string> };
  };
  value.metadata.annotations['note'] = note;
  return value;
}

interface Owner {
  readonly name: string;
  readonly create: (by: CommandLine) => Promise<void>;
  readonly act: (by: CommandLine) => Promise<void>;
}

const OWNERS: Readonly<Record<string, Owner>> = {
  'kubectl apply': {
    name: 'applied',
    create: (by) => by.apply(manifest('applied', '0')),
    act: (by) => by.apply(manifest('applied', '1')),
  },
  'kubectl apply --server-side': {
    name: 'server-side',
    create: (by) => by.apply(manifest('server-side', '0'), ...SERVER_SIDE),
    act: (by) => by.apply(manifest('server-side', '1'), ...SERVER_SIDE),
  },
  'helm upgrade': {
    name: 'upgraded',
    create: (by) => by.upgrade(manifest('upgraded', '0')),
    act: (by) => by.upgrade(manifest('upgraded', '1')),
  },
  'helm rollback': {
    name: 'rolled-back',
    create: async (by) => {
      await by.upgrade(manifest('rolled-back', '0'));
      await by.upgrade(manifest('rolled-back', '1'));
    },
    act: (by) => by.helm('rollback', 'rolled-back', '1'),
  },
};

describe('after a reload', () => {
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
    reroll = await startReroll({ cluster, namespaces: [space] });
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
      expect(Object.keys(markerVariables(after)['app'] ?? {})).toEqual(['STAKATER_CM_CONFIGMAP']);
      expect(after.spec.template).toEqual(before.spec.template);
      await settled(reroll, space);
      expect(await rollouts.now()).toBe(0);
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
    expect(markerVariables(await space.get(ref))).toEqual({});
    await settled(reroll, space);
    expect(await rollouts.now()).toBe(1);
    await space.setData('ConfigMap/cm', { v: '2' });
    const after = await inStep(space, ref, CM);
    expect(Object.keys(markerVariables(after)['app'] ?? {})).toEqual(['STAKATER_CM_CONFIGMAP']);
    await settled(reroll, space);
    expect(await rollouts.now()).toBe(2);
  });
});
