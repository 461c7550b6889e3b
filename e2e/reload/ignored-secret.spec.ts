import { beforeAll, expect, it } from 'vitest';
import { auto, deployment, naming, secret, usingEnvFrom, usingVolume } from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type Ref, type Space } from '../support/kube.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import { RolloutCount, inStep, recordOf, settled } from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';

const RELEASE = { type: 'helm.sh/release.v1' };

let space: Space;
let reroll: Reroll;

beforeAll(async () => {
  space = await namespace(connect(sharedCluster()));
  await space.apply(secret('release', { v: '1' }, RELEASE), secret('keys', { v: '1' }));
  await space.apply(
    deployment('before', naming('Secret/release')),
    deployment('lost', naming('Secret/nowhere')),
  );
  reroll = await startReroll({ cluster: sharedCluster(), namespaces: [space] });
});

async function reasonOf(ref: Ref): Promise<string> {
  const [outcome] = await eventually(async () => {
    const found = await reroll.outcomes(space, ref);
    return found.length > 0 && found;
  });
  return outcome?.reason ?? '';
}

it('a workload that names a Secret of an ignored type is told that nobody watches it', async () => {
  await space.apply(deployment('later', auto(), usingVolume('Secret/release')));
  for (const ref of ['Deployment/before', 'Deployment/later']) {
    expect(await reasonOf(ref)).toBe('SourceNotWatched');
    expect((await reroll.outcomes(space, ref))[0]).toMatchObject({
      state: 'unchanged',
      sources: { 'Secret/release': 'SourceNotWatched' },
    });
  }
});

it('one that names a Secret that does not exist is told so', async () => {
  expect(await reasonOf('Deployment/lost')).toBe('SourceAbsent');
});

it('its change rolls nothing; the other Secret of the same workload does', async () => {
  await space.apply(deployment('api', auto(), usingVolume('Secret/release'), usingEnvFrom('Secret/keys')));
  await inStep(space, 'Deployment/api', ['Secret/keys']);
  const rollouts = await RolloutCount.from(space, 'Deployment/api');
  await space.setData('Secret/release', { v: '2' });
  await settled(reroll, space);
  expect(await rollouts.now()).toBe(0);
  await space.setData('Secret/keys', { v: '2' });
  const now = await inStep(space, 'Deployment/api', ['Secret/keys']);
  expect(await rollouts.now()).toBe(1);
  expect(Object.keys(recordOf(now))).toEqual(['Secret/keys']);
});

it('with --secret-types-to-ignore= every type is watched', async () => {
  await reroll.stop();
  await startReroll({
    cluster: sharedCluster(),
    namespaces: [space],
    flags: ['--secret-types-to-ignore='],
  });
  await inStep(space, 'Deployment/before', ['Secret/release']);
  await space.setData('Secret/release', { v: '3' });
  await inStep(space, 'Deployment/before', ['Secret/release']);
});
