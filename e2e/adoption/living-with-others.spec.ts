import { beforeAll, describe, expect, it } from 'vitest';
import { ensureProgram } from '../../tools/cluster/src/build/build-program.ts';
import {
  argoRollout,
  auto,
  configMap,
  deployment,
  podAnnotated,
  replicas,
  statefulSet,
  usingEnvFrom,
} from '../support/objects/builders.ts';
import { cleanUp } from '../support/cleanup.ts';
import { sharedCluster } from '../support/cluster.ts';
import { CommandLine } from '../support/admin/command-line.ts';
import { isOutOfSync } from '../support/objects/argo-cd.ts';
import { installCrd, removeCrd } from '../support/objects/crds.ts';
import { connect, namespace, refOf, type KubeObject, type Manifest, type Space } from '../support/kube.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import {
  change,
  countRollouts,
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

/** What Argo CD manages. */
const MANAGED: readonly Manifest[] = [deployment, statefulSet, argoRollout].map((build) =>
  build('managed', auto(), usingEnvFrom('cm')),
);

/** As docs/strategies.md has it. */
const IGNORE_DIFFERENCES = [{ group: 'apps', kind: '*', managedFieldsManagers: ['Reloader'] }];

beforeAll(async () => {
  await ensureProgram('argo-cd-diff', { log: (line) => console.error(line) });
  const client = connect(sharedCluster());
  await installCrd(client, 'Rollout');
  cleanUp(() => removeCrd(client, 'Rollout'));
}, 1_800_000);

describe.each([
  ['env-vars', Object.keys(OWNERS)],
  // In another place of the template, which each of them merges in its own way.
  ['annotations', ['kubectl apply', 'kubectl apply --server-side', 'helm upgrade']],
])('after a reload with the strategy %s', (strategy, owners) => {
  const own = owners.map((owner) => OWNERS[owner] as Owner);
  const refs = own.map(({ name }) => `Deployment/${name}`);
  let space: Space;
  let reroll: Reroll;
  let commandLine: CommandLine;

  beforeAll(async () => {
    const cluster = sharedCluster();
    space = await namespace(connect(cluster));
    commandLine = await CommandLine.open(cluster, space);
    await space.apply(configMap('cm', { v: '0' }));
    for (const { create } of own) await create(commandLine);
    for (const managed of MANAGED) await commandLine.apply(managed, '--field-manager=argocd-controller');
    const workerFlags = [`--reload-strategy=${strategy}`];
    const watcherFlags = ['--is-argo-rollouts=true', '--discovery-interval=200ms'];
    reroll = await startReroll({ cluster, namespaces: [space], workerFlags, watcherFlags });
    const all = [...refs, ...MANAGED.map(refOf)];
    for (const ref of all) await inStep(space, ref, CM);
    await change(space, 'ConfigMap/cm', '1', all);
    await settled(reroll, space);
  }, 1_800_000);

  it(`leave the marker alone, and are followed by no rollout: ${owners.join(', ')}`, async () => {
    const before = await Promise.all(refs.map((ref) => space.get(ref)));
    const rollouts = await countRollouts(space, refs);
    for (const { act } of own) await act(commandLine);
    for (const [index, ref] of refs.entries()) {
      const after = await space.get(ref);
      const note = before[index]?.metadata.annotations?.['note'];
      expect(after.metadata.annotations?.['note'], ref).not.toBe(note);
      expect(isMarked(after), ref).toBe(true);
      expect(after.spec.template, ref).toEqual(before[index]?.spec.template);
    }
    await settled(reroll, space);
    expect(await rollouts()).toEqual(refs.map(() => 0));
  });

  it('leave the marker in another pod template, and their own rollout is followed by none of ours', async () => {
    const rollouts = await countRollouts(space, refs);
    for (const { edit } of own) await edit(commandLine);
    for (const ref of refs) {
      const after = await space.get(ref);
      expect(after.spec.template.metadata?.annotations, ref).toMatchObject({ note: 'edited' });
      expect(isMarked(after), ref).toBe(true);
    }
    await settled(reroll, space);
    expect(await rollouts()).toEqual(refs.map(() => 1));
  });

  it('what Argo CD manages is not OutOfSync, and is once it is edited', async () => {
    for (const target of MANAGED) {
      expect(isMarked(await space.get(refOf(target))), refOf(target)).toBe(true);
      const { spec } = target as Manifest & { readonly spec: object };
      const edited = { ...target, spec: { ...spec, replicas: 2 } } as Manifest;
      for (const settings of [[], IGNORE_DIFFERENCES]) {
        expect(await isOutOfSync(space, target, settings), refOf(target)).toBe(false);
        expect(await isOutOfSync(space, edited, settings), refOf(target)).toBe(true);
      }
    }
  });

  it('kubectl rollout undo takes the marker away by one rollout of its own, which is followed by none of ours', async () => {
    const ref = 'Deployment/undone';
    await commandLine.apply(manifest('undone', '0'));
    await inStep(space, ref, CM);
    await change(space, 'ConfigMap/cm', '2', [ref]);
    await settled(reroll, space);
    const rollouts = await countRollouts(space, [ref]);
    await eventually(async () => {
      const { metadata } = await space.get(ref);
      return metadata.annotations?.['deployment.kubernetes.io/revision'] === '2';
    });
    await commandLine.kubectl('rollout', 'undo', 'deployment/undone');
    expect(isMarked(await space.get(ref))).toBe(false);
    await settled(reroll, space);
    expect(await rollouts()).toEqual([1]);
    await change(space, 'ConfigMap/cm', '3', [ref]);
    expect(isMarked(await space.get(ref))).toBe(true);
    expect(await rollouts()).toEqual([2]);
  });
});
