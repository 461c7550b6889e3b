import { beforeAll, describe, expect, it } from 'vitest';
import {
  annotated,
  auto,
  configMap,
  deployment,
  naming,
  podAnnotated,
  usingEnvFrom,
} from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type KubeEvent, type Ref, type Space } from '../support/kube.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import { RolloutCount, inStep, settled } from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';

const KEY = 'configmap.reloader.stakater.com/reload';
const BAD = 'web-[,app';

const BEFORE = {
  'on the workload': annotated({ [KEY]: 'web-[' }),
  'on the pod template': podAnnotated({ [KEY]: 'web-[' }),
};

let space: Space;
let reroll: Reroll;
/** With what was there before the install. */
const before = new Map<string, Space>();
const fresh: Space[] = [];

async function spaceWith(): Promise<Space> {
  const made = await namespace(connect(sharedCluster()));
  await made.apply(configMap('cm', { v: '1' }), configMap('app', { v: '1' }));
  return made;
}

beforeAll(async () => {
  for (const [where, modifier] of Object.entries(BEFORE)) {
    const made = await spaceWith();
    await made.apply(deployment('bad', modifier, usingEnvFrom('cm')));
    before.set(where, made);
  }
  for (let test = 0; test < 4; test += 1) fresh.push(await spaceWith());
  const namespaces = [...before.values(), ...fresh];
  reroll = await startReroll({ cluster: sharedCluster(), namespaces });
});

async function warningsOn(ref: Ref): Promise<KubeEvent[]> {
  return (await space.events(ref)).filter(({ reason }) => reason === 'InvalidAnnotation');
}

describe.each(Object.entries(BEFORE))(
  'a pattern that cannot be used, %s, with nothing else that asks for a reload',
  (where, modifier) => {
    it('is told on a workload that was there before', async () => {
      space = before.get(where) as Space;
      await isTold();
    });

    it('is told on a workload that comes later, once', async () => {
      space = fresh.pop() as Space;
      await space.apply(deployment('bad', modifier, usingEnvFrom('cm')));
      await isTold();
      await space.setData('ConfigMap/cm', { v: '2' });
      await space.patch('Deployment/bad', { spec: { template: { metadata: { labels: { other: 'x' } } } } });
      await settled(reroll, space);
      expect(await warningsOn('Deployment/bad')).toHaveLength(1);
    });

    async function isTold(): Promise<void> {
      const rollouts = await RolloutCount.from(space, 'Deployment/bad');
      const [warning] = await eventually(async () => {
        const found = await warningsOn('Deployment/bad');
        return found.length > 0 && found;
      });
      expect(warning?.type).toBe('Warning');
      expect(warning?.message).toContain('expected a list of regular expressions (RE2), given "web-[": ');
      const [outcome] = await eventually(async () => {
        const found = await reroll.outcomes(space, 'Deployment/bad');
        return found.length > 0 && found;
      });
      expect(outcome).toMatchObject({ state: 'unchanged', reason: 'InvalidPattern' });
      expect(outcome?.detail).toContain('"web-["');
      const words = `Skipping invalid reload annotation on Deployment 'bad' in namespace '${space.name}'`;
      await eventually(() => reroll.logs().includes(`level=error msg="${words}"`));
      expect(await rollouts.now()).toBe(0);
    }
  },
);

it('harms no other workload, nor what the same workload names rightly', async () => {
  space = fresh.pop() as Space;
  await space.apply(
    deployment('good', auto(), usingEnvFrom('cm')),
    deployment('half', naming(BAD), usingEnvFrom('app')),
    deployment('bad', naming('web-['), usingEnvFrom('cm')),
  );
  await inStep(space, 'Deployment/good', ['ConfigMap/cm']);
  await inStep(space, 'Deployment/half', ['ConfigMap/app']);
  const refs = ['Deployment/good', 'Deployment/half', 'Deployment/bad'] as const;
  const rollouts = await Promise.all(refs.map((ref) => RolloutCount.from(space, ref)));
  await space.setData('ConfigMap/cm', { v: '2' });
  await space.setData('ConfigMap/app', { v: '2' });
  await inStep(space, 'Deployment/good', ['ConfigMap/cm']);
  await inStep(space, 'Deployment/half', ['ConfigMap/app']);
  await settled(reroll, space);
  expect(await Promise.all(rollouts.map((each) => each.now()))).toEqual([1, 1, 0]);
  await eventually(async () => (await warningsOn('Deployment/half')).length === 1);
  const [change] = await reroll.changes(space, 'ConfigMap/cm');
  expect(change?.leftAlone.map(({ workload, reason }) => [workload.split('/')[2], reason])).toEqual([
    ['bad', 'InvalidPattern'],
  ]);
});

it('is no error any more once it is mended: the workload is adopted', async () => {
  space = fresh.pop() as Space;
  await space.apply(deployment('bad', naming('web-['), usingEnvFrom('cm')));
  await eventually(async () => (await warningsOn('Deployment/bad')).length > 0);
  await space.annotate('Deployment/bad', { [KEY]: 'c[m]' });
  await inStep(space, 'Deployment/bad', ['ConfigMap/cm']);
  await space.setData('ConfigMap/cm', { v: '2' });
  await inStep(space, 'Deployment/bad', ['ConfigMap/cm']);
  await eventually(async () => (await reroll.outcomes(space, 'Deployment/bad')).at(-1)?.state === 'reloaded');
});
