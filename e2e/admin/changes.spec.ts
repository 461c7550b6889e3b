import { beforeAll, describe, expect, it } from 'vitest';
import { markerHash } from '@reroll/core/marker/marker-hash';
import type { ChangeEntry } from '@reroll/core/history/entries';
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
import { keyIn, startReroll, type Reroll } from '../support/reroll.ts';
import { RolloutCount, hashOf, inStep, markerVariables, settled } from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';

/** What counts as a change, how often it rolls, and what the history tells of it. */
let space: Space;
let reroll: Reroll;

beforeAll(async () => {
  const cluster = sharedCluster();
  space = await namespace(connect(cluster));
  reroll = await startReroll({ cluster, namespaces: [space] });
});

/** A ConfigMap and a workload that is recorded with it. */
async function adopted(name: string): Promise<RolloutCount> {
  await space.apply(configMap(name, { v: '0' }), deployment(name, auto(), usingEnvFrom(name)));
  await inStep(space, `Deployment/${name}`, [`ConfigMap/${name}`]);
  return await RolloutCount.from(space, `Deployment/${name}`);
}

async function hashNow(name: string): Promise<string> {
  return hashOf(await space.get(`ConfigMap/${name}`));
}

/** What is told of a ConfigMap's changes, once there are as many. */
async function told(name: string, count: number): Promise<Pick<ChangeEntry, 'cause' | 'from' | 'hash'>[]> {
  const entries = await eventually(async () => {
    const changes = await reroll.changes(space, `ConfigMap/${name}`);
    expect(changes.length).toBeGreaterThanOrEqual(count);
    return changes;
  });
  return entries.map(({ cause, from, hash }) => ({ cause, from, hash }));
}

describe('a write that changes no data', () => {
  it('rolls nothing: labels, annotations and immutability of a Secret', async () => {
    await space.apply(secret('meta', { a: '1' }), deployment('meta', auto(), usingVolume('Secret/meta')));
    await inStep(space, 'Deployment/meta', ['Secret/meta']);
    const rollouts = await RolloutCount.from(space, 'Deployment/meta');
    await space.patch('Secret/meta', { metadata: { labels: { a: 'b' }, annotations: { c: 'd' } } });
    await space.patch('Secret/meta', { immutable: true });
    await settled(reroll, space);
    expect(await rollouts.now()).toBe(0);
    expect(await reroll.changes(space, 'Secret/meta')).toEqual([]);
  });
});

it('rolls twice for A, B and A again, if B was applied in between, and tells from what to what', async () => {
  const rollouts = await adopted('flip');
  const [A, B] = [await hashNow('flip'), hashOf(configMap('flip', { v: 'B' }) as never)];
  for (const v of ['B', '0']) {
    await space.setData('ConfigMap/flip', { v });
    const now = await inStep(space, 'Deployment/flip', ['ConfigMap/flip']);
    const STAKATER_FLIP_CONFIGMAP = markerHash('ConfigMap', { data: { v } });
    expect(markerVariables(now)).toEqual({ app: { STAKATER_FLIP_CONFIGMAP } });
  }
  await settled(reroll, space);
  expect(await rollouts.now()).toBe(2);
  expect(await told('flip', 2)).toEqual([
    { cause: 'updated', from: A, hash: B },
    { cause: 'updated', from: B, hash: A },
  ]);
});

it('loses no second change, wherever in the reload of the first one it comes', async () => {
  const rollouts = await adopted('middle');
  const rounds = 15;
  for (let round = 1; round <= rounds; round += 1) {
    await space.setData('ConfigMap/middle', { v: `${round} first` });
    // A read each: the second change comes a little later in the reload of the first one every round.
    for (let reads = 0; reads < round; reads += 2) await space.get('ConfigMap/middle');
    await space.setData('ConfigMap/middle', { v: `${round} second` });
    await inStep(space, 'Deployment/middle', ['ConfigMap/middle']);
  }
  await settled(reroll, space);
  const now = await inStep(space, 'Deployment/middle', ['ConfigMap/middle']);
  // If the second change comes between a worker's read and its patch, the rollout of the first one brings it:
  // the record says so, and the marker stays as it was written.
  const last = ['first', 'second'].map((which) =>
    markerHash('ConfigMap', { data: { v: `${rounds} ${which}` } }),
  );
  expect(last).toContain(markerVariables(now)['app']?.['STAKATER_MIDDLE_CONFIGMAP']);
  expect(await rollouts.now()).toBeGreaterThanOrEqual(rounds);
  expect(await rollouts.now()).toBeLessThanOrEqual(2 * rounds);
});

describe('a change in the history', () => {
  it('says that its source was deleted, and that it was created again', async () => {
    await adopted('again');
    const zero = await hashNow('again');
    await space.delete('ConfigMap/again');
    expect(await told('again', 1)).toEqual([{ cause: 'deleted', from: zero, hash: null }]);
    await space.apply(configMap('again', { v: '1' }));
    await inStep(space, 'Deployment/again', ['ConfigMap/again']);
    const created = { cause: 'created', from: null, hash: await hashNow('again') };
    expect((await told('again', 2)).at(-1)).toEqual(created);
  });

  it('is one for several writes before its job, from the first state to the last', async () => {
    await adopted('burst');
    const zero = await hashNow('burst');
    await reroll.queues.changes.pause();
    for (const v of ['1', '2', '3']) await space.setData('ConfigMap/burst', { v });
    const { metadata } = await space.get('ConfigMap/burst');
    await eventually(async () => {
      const key = keyIn(space, 'ConfigMap/burst');
      return (await reroll.catalog.sources([key])).get(key)?.rv === metadata.resourceVersion;
    });
    await reroll.queues.changes.resume();
    await inStep(space, 'Deployment/burst', ['ConfigMap/burst']);
    expect(await told('burst', 1)).toEqual([{ cause: 'updated', from: zero, hash: await hashNow('burst') }]);
  });

  it('that nobody saw live was missed', async () => {
    await adopted('gap');
    const zero = await hashNow('gap');
    await Promise.all(reroll.watchers.map((watcher) => watcher.stop()));
    await space.setData('ConfigMap/gap', { v: '1' });
    reroll.start('watcher');
    await reroll.ready();
    await inStep(space, 'Deployment/gap', ['ConfigMap/gap']);
    expect(await told('gap', 1)).toEqual([{ cause: 'missed', from: zero, hash: await hashNow('gap') }]);
  });
});
