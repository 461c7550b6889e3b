import { beforeAll, describe, expect, it } from 'vitest';
import { markerHash } from '@reroll/core/marker/marker-hash';
import {
  auto,
  configMap,
  deployment,
  secret,
  usingEnvFrom,
  usingVolume,
} from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type Space } from '../support/kube.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import { RolloutCount, inStep, markerVariables, settled } from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';

let space: Space;
let reroll: Reroll;

beforeAll(async () => {
  const cluster = sharedCluster();
  space = await namespace(connect(cluster));
  reroll = await startReroll({ cluster, namespaces: [space] });
});

function hashInMarker(data: Readonly<Record<string, string>>): string {
  return markerHash('ConfigMap', { data });
}

describe('a write that changes no data', () => {
  it('rolls nothing: labels and annotations of a ConfigMap', async () => {
    await space.apply(configMap('meta', { a: '1' }), deployment('meta', auto(), usingEnvFrom('meta')));
    await inStep(space, 'Deployment/meta', ['ConfigMap/meta']);
    const rollouts = await RolloutCount.from(space, 'Deployment/meta');
    await space.patch('ConfigMap/meta', { metadata: { labels: { a: 'b' }, annotations: { c: 'd' } } });
    await settled(reroll, space);
    expect(await rollouts.now()).toBe(0);
    expect(await reroll.changes(space, 'ConfigMap/meta')).toEqual([]);
  });

  it('rolls nothing: labels, annotations and immutability of a Secret', async () => {
    await space.apply(
      secret('meta', { a: '1' }),
      deployment('meta-secret', auto(), usingVolume('Secret/meta')),
    );
    await inStep(space, 'Deployment/meta-secret', ['Secret/meta']);
    const rollouts = await RolloutCount.from(space, 'Deployment/meta-secret');
    await space.patch('Secret/meta', { metadata: { labels: { a: 'b' }, annotations: { c: 'd' } } });
    await space.patch('Secret/meta', { immutable: true });
    await settled(reroll, space);
    expect(await rollouts.now()).toBe(0);
    expect(await reroll.changes(space, 'Secret/meta')).toEqual([]);
  });

  it('rolls nothing: the same data written again, its keys in another order', async () => {
    await space.apply(
      configMap('same', { a: '1', b: '2' }),
      deployment('same', auto(), usingEnvFrom('same')),
    );
    await inStep(space, 'Deployment/same', ['ConfigMap/same']);
    const rollouts = await RolloutCount.from(space, 'Deployment/same');
    await space.setData('ConfigMap/same', { b: '2', a: '1' });
    await settled(reroll, space);
    expect(await rollouts.now()).toBe(0);
  });
});

it('rolls twice for A, B and A again, if B was applied in between', async () => {
  const [A, B] = [{ value: 'A' }, { value: 'B' }];
  await space.apply(configMap('flip', A), deployment('flip', auto(), usingEnvFrom('flip')));
  await inStep(space, 'Deployment/flip', ['ConfigMap/flip']);
  const rollouts = await RolloutCount.from(space, 'Deployment/flip');
  for (const data of [B, A]) {
    await space.setData('ConfigMap/flip', data);
    const now = await inStep(space, 'Deployment/flip', ['ConfigMap/flip']);
    expect(markerVariables(now)).toEqual({ app: { STAKATER_FLIP_CONFIGMAP: hashInMarker(data) } });
  }
  await settled(reroll, space);
  expect(await rollouts.now()).toBe(2);
});

describe('a second change right after the first', () => {
  it('is rolled too, if the first one has just been', async () => {
    await space.apply(configMap('after', { v: '0' }), deployment('after', auto(), usingEnvFrom('after')));
    await inStep(space, 'Deployment/after', ['ConfigMap/after']);
    const rollouts = await RolloutCount.from(space, 'Deployment/after');
    await space.setData('ConfigMap/after', { v: '1' });
    await eventually(async () => (await rollouts.now()) === 1);
    await space.setData('ConfigMap/after', { v: '2' });
    const now = await inStep(space, 'Deployment/after', ['ConfigMap/after']);
    await settled(reroll, space);
    expect(await rollouts.now()).toBe(2);
    expect(markerVariables(now)).toEqual({ app: { STAKATER_AFTER_CONFIGMAP: hashInMarker({ v: '2' }) } });
  });

  it('is not lost, wherever in the reload of the first one it comes', async () => {
    await space.apply(configMap('middle', { v: '' }), deployment('middle', auto(), usingEnvFrom('middle')));
    await inStep(space, 'Deployment/middle', ['ConfigMap/middle']);
    const rollouts = await RolloutCount.from(space, 'Deployment/middle');
    const rounds = 30;
    for (let round = 1; round <= rounds; round += 1) {
      await space.setData('ConfigMap/middle', { v: `${round} first` });
      // A read each: the second change comes a little later in the reload of the first one every round.
      for (let reads = 0; reads < round; reads += 3) await space.get('ConfigMap/middle');
      await space.setData('ConfigMap/middle', { v: `${round} second` });
      await inStep(space, 'Deployment/middle', ['ConfigMap/middle']);
    }
    await settled(reroll, space);
    const now = await inStep(space, 'Deployment/middle', ['ConfigMap/middle']);
    // If the second change comes between a worker's read and its patch, the rollout of the first one brings it:
    // the record says so, and the marker stays as it was written.
    const last = ['first', 'second'].map((which) => hashInMarker({ v: `${rounds} ${which}` }));
    expect(last).toContain(markerVariables(now)['app']?.['STAKATER_MIDDLE_CONFIGMAP']);
    expect(await rollouts.now()).toBeGreaterThanOrEqual(rounds);
    expect(await rollouts.now()).toBeLessThanOrEqual(2 * rounds);
  });
});
