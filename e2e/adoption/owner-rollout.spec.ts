import { beforeAll, describe, expect, it } from 'vitest';
import {
  auto,
  configMap,
  deployment,
  podAnnotated,
  secret,
  usingEnvFrom,
  usingVolume,
} from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type Manifest, type Space } from '../support/kube.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import { RolloutCount, inStep, markerVariables, recordOf, settled } from '../support/objects/rollouts.ts';

const name = 'chart';

let space: Space;
let reroll: Reroll;

beforeAll(async () => {
  const cluster = sharedCluster();
  space = await namespace(connect(cluster));
  // The default, which is what makes room for an apply of several objects.
  reroll = await startReroll({ cluster, namespaces: [space], debounce: '500ms' });
});

/** A chart with a checksum of its configuration in the pod template, as charts have it, or without. */
function chart(version: { config: string; checksum: string }): Manifest[] {
  const data = { config: version.config };
  return [
    configMap(name, data),
    secret(name, data),
    deployment(
      name,
      auto(),
      usingEnvFrom(name),
      usingVolume(`Secret/${name}`),
      podAnnotated({ 'checksum/config': version.checksum }),
    ),
  ];
}

describe('one apply of sources and a workload, as of helm', () => {
  const ref = `Deployment/${name}`;
  const sources = [`ConfigMap/${name}`, `Secret/${name}`];

  it('rolls nothing at the first install', async () => {
    await space.apply(...chart({ config: '1', checksum: '1' }));
    const rollouts = await RolloutCount.from(space, ref);
    await inStep(space, ref, sources);
    await settled(reroll, space);
    expect(await rollouts.now()).toBe(0);
  });

  it('gives one rollout if the upgrade changes the pod template too: the one of its owner', async () => {
    const rollouts = await RolloutCount.from(space, ref);
    await space.apply(...chart({ config: '2', checksum: '2' }));
    await inStep(space, ref, sources);
    await settled(reroll, space);
    expect(await rollouts.now()).toBe(1);
    const reasons = (await reroll.outcomes(space, ref)).map(({ reason }) => reason);
    expect(reasons).toContain('BroughtByOwner');
    expect(reasons).not.toContain('Reloaded');
  });

  it('gives one rollout if the upgrade changes only the sources: ours', async () => {
    const rollouts = await RolloutCount.from(space, ref);
    await space.apply(...chart({ config: '3', checksum: '2' }));
    await inStep(space, ref, sources);
    await settled(reroll, space);
    expect(await rollouts.now()).toBe(1);
    expect((await reroll.outcomes(space, ref)).map(({ reason }) => reason)).toContain('Reloaded');
  });

  it('gives one rollout if the upgrade changes only the pod template', async () => {
    const rollouts = await RolloutCount.from(space, ref);
    const before = recordOf(await space.get(ref));
    await space.apply(...chart({ config: '3', checksum: '4' }));
    await settled(reroll, space);
    expect(await rollouts.now()).toBe(1);
    expect(recordOf(await space.get(ref))).toEqual(before);
  });

  it('gives one rollout if it replaces the whole, our marker and record with it', async () => {
    await space.apply(...chart({ config: '5', checksum: '4' }));
    const rolled = await inStep(space, ref, sources);
    await settled(reroll, space);
    expect(markerVariables(rolled)).not.toEqual({});
    const rollouts = await RolloutCount.from(space, ref);
    const [, , workload] = chart({ config: '5', checksum: '4' });
    await space.client.put(space.path(ref), workload);
    const replaced = await inStep(space, ref, sources);
    await settled(reroll, space);
    expect(markerVariables(replaced)).toEqual({});
    expect(await rollouts.now()).toBe(1);
  });

  it('goes back to what was before with one rollout, the one of its owner', async () => {
    const rollouts = await RolloutCount.from(space, ref);
    await space.apply(...chart({ config: '1', checksum: '1' }));
    await inStep(space, ref, sources);
    await settled(reroll, space);
    expect(await rollouts.now()).toBe(1);
  });
});
