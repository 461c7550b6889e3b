import { beforeAll, expect, it } from 'vitest';
import { markerHash } from '@reroll/core/marker/marker-hash';
import { auto, configMap, deployment, usingEnvFrom } from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type Space, type WorkloadRef } from '../support/kube.ts';
import { keyIn, startReroll, type Reroll } from '../support/reroll.ts';
import {
  RolloutCount,
  inStep,
  markerAnnotation,
  markerVariables,
  settled,
} from '../support/objects/rollouts.ts';

/** `a.b` and `a-b` both are `STAKATER_A_B_CONFIGMAP`. */
const SOURCES = ['ConfigMap/a.b', 'ConfigMap/a-b'] as const;
const VARIABLE = 'STAKATER_A_B_CONFIGMAP';

let space: Space;
let reroll: Reroll;

beforeAll(async () => {
  const cluster = sharedCluster();
  space = await namespace(connect(cluster));
  reroll = await startReroll({ cluster, namespaces: [space], debounce: '500ms' });
  await space.apply(configMap('a.b', { v: 'dot' }), configMap('a-b', { v: 'dash' }));
});

async function user(name: string): Promise<{ ref: WorkloadRef; rollouts: RolloutCount }> {
  await space.apply(deployment(name, auto(), usingEnvFrom('a.b'), usingEnvFrom('a-b')));
  const ref = `Deployment/${name}` as const;
  await inStep(space, ref, SOURCES);
  return { ref, rollouts: await RolloutCount.from(space, ref) };
}

async function replay(ref: WorkloadRef): Promise<void> {
  const workload = keyIn(space, ref);
  for (const source of [...SOURCES, ...SOURCES]) {
    await reroll.queues.enqueueReloads([{ workload, since: Date.now(), source: keyIn(space, source) }]);
    await reroll.idle();
  }
}

function hashInMarker(v: string): string {
  return markerHash('ConfigMap', { data: { v } });
}

it('rolls once for a change of both, and not again for the one whose hash is not in the variable', async () => {
  const { ref, rollouts } = await user('both');
  await space.setData('ConfigMap/a.b', { v: 'dot 2' });
  await space.setData('ConfigMap/a-b', { v: 'dash 2' });
  const now = await inStep(space, ref, SOURCES);
  await settled(reroll, space);
  await replay(ref);
  expect(await rollouts.now()).toBe(1);
  expect([hashInMarker('dot 2'), hashInMarker('dash 2')]).toContain(markerVariables(now)['app']?.[VARIABLE]);
});

it('rolls for each of two changes one after the other', async () => {
  const { ref, rollouts } = await user('each');
  for (const source of SOURCES) {
    await space.setData(source, { v: `${source} 3` });
    const now = await inStep(space, ref, SOURCES);
    expect(markerVariables(now)).toEqual({ app: { [VARIABLE]: hashInMarker(`${source} 3`) } });
    await settled(reroll, space);
  }
  await replay(ref);
  expect(await rollouts.now()).toBe(2);
});

it('rolls also when the variable holds the very hash already, because of the other', async () => {
  const { ref, rollouts } = await user('same');
  await space.setData('ConfigMap/a.b', { v: 'the same' });
  const first = await inStep(space, ref, SOURCES);
  expect(markerVariables(first)).toEqual({ app: { [VARIABLE]: hashInMarker('the same') } });
  expect(markerAnnotation(first)).toBeUndefined();
  await settled(reroll, space);
  expect(await rollouts.now()).toBe(1);

  await space.setData('ConfigMap/a-b', { v: 'the same' });
  const second = await inStep(space, ref, SOURCES);
  await settled(reroll, space);
  await replay(ref);
  expect(await rollouts.now()).toBe(2);
  expect(markerAnnotation(second)).toMatchObject({
    kind: 'ConfigMap',
    name: 'a-b',
    hash: hashInMarker('the same'),
  });
});
