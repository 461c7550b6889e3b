import { beforeAll, describe, expect, it } from 'vitest';
import { auto, deployment, source, usingEnvFrom } from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type Space } from '../support/kube.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import { RolloutCount, inStep, settled } from '../support/objects/rollouts.ts';

const SAME = { v: '1' };
const OTHER = { v: '2' };

let space: Space;
let reroll: Reroll;

beforeAll(async () => {
  const cluster = sharedCluster();
  space = await namespace(connect(cluster));
  reroll = await startReroll({ cluster, namespaces: [space] });
});

interface User {
  readonly source: string;
  readonly workload: string;
  readonly rollouts: RolloutCount;
}

async function user(kind: string, name: string): Promise<User> {
  const [ref, workload] = [`${kind}/${name}`, `Deployment/${name}`];
  await space.apply(source(ref, SAME), deployment(name, auto(), usingEnvFrom(ref)));
  await inStep(space, workload, [ref]);
  return { source: ref, workload, rollouts: await RolloutCount.from(space, workload) };
}

describe.each(['ConfigMap', 'Secret'])('a %s that is deleted', (kind) => {
  const prefix = kind.toLowerCase();

  it('and stays away rolls nothing', async () => {
    const { source: ref, rollouts } = await user(kind, `${prefix}-gone`);
    await space.delete(ref);
    await settled(reroll, space);
    expect(await rollouts.now()).toBe(0);
  });

  it('and created again with other data rolls once', async () => {
    const { source: ref, workload, rollouts } = await user(kind, `${prefix}-other`);
    await space.delete(ref);
    await space.apply(source(ref, OTHER));
    await inStep(space, workload, [ref]);
    await settled(reroll, space);
    expect(await rollouts.now()).toBe(1);
  });

  it('and created again with other data after a while rolls once', async () => {
    const { source: ref, workload, rollouts } = await user(kind, `${prefix}-later`);
    await space.delete(ref);
    await settled(reroll, space);
    await space.apply(source(ref, OTHER));
    await inStep(space, workload, [ref]);
    await settled(reroll, space);
    expect(await rollouts.now()).toBe(1);
  });

  it('and created again with the same data rolls nothing', async () => {
    const { source: ref, rollouts } = await user(kind, `${prefix}-same`);
    await space.delete(ref);
    await settled(reroll, space);
    await space.apply(source(ref, SAME));
    await settled(reroll, space);
    expect(await rollouts.now()).toBe(0);
  });

  it('and created again while no watcher is there rolls once with other data, not with the same', async () => {
    const other = await user(kind, `${prefix}-down-other`);
    const same = await user(kind, `${prefix}-down-same`);
    const half = await user(kind, `${prefix}-down-half`);
    await Promise.all(reroll.watchers.map((watcher) => watcher.stop()));
    for (const one of [other, same, half]) await space.delete(one.source);
    await space.apply(source(other.source, OTHER), source(same.source, SAME));
    await reroll.start('watcher').ready();
    await inStep(space, other.workload, [other.source]);
    // Gone at the list that the new watcher began with, and back later.
    await space.apply(source(half.source, OTHER));
    await inStep(space, half.workload, [half.source]);
    await settled(reroll, space);
    expect(await other.rollouts.now()).toBe(1);
    expect(await half.rollouts.now()).toBe(1);
    expect(await same.rollouts.now()).toBe(0);
  });
});
