import { beforeAll, expect, it } from 'vitest';
import { auto, configMap, deployment, usingEnvFrom } from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type KubeObject, type Space } from '../support/kube.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import { RolloutCount, hashOf, recordOf, settled } from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';

const COUNT = 200;
const NAMES = Array.from({ length: COUNT }, (_, index) => `user-${index}`);

let space: Space;
let reroll: Reroll;

beforeAll(async () => {
  const cluster = sharedCluster();
  space = await namespace(connect(cluster));
  reroll = await startReroll({ cluster, namespaces: [space], watchers: 2, workers: 2 });
  await space.apply(configMap('shared', { v: '1' }));
  await space.applyAll(NAMES.map((name) => deployment(name, auto(), usingEnvFrom('shared'))));
});

async function inStepAll(): Promise<void> {
  const hash = hashOf(await space.get('ConfigMap/shared'));
  await eventually(
    async () => {
      const users = (await space.list('Deployment')).filter(({ metadata }) =>
        metadata.name.startsWith('user-'),
      );
      const behind = users.filter((object: KubeObject) => recordOf(object)['ConfigMap/shared'] !== hash);
      expect(users).toHaveLength(COUNT);
      expect(behind.map(({ metadata }) => metadata.name)).toEqual([]);
      return true;
    },
    { within: 60_000 },
  );
}

it(`rolls ${COUNT} workloads that use one source, each once, when it changes`, async () => {
  await inStepAll();
  const counts = await Promise.all(NAMES.map((name) => RolloutCount.from(space, `Deployment/${name}`)));
  await space.setData('ConfigMap/shared', { v: '2' });
  await inStepAll();
  await settled(reroll, space);
  const rollouts = await Promise.all(counts.map((count) => count.now()));
  expect(rollouts).toEqual(NAMES.map(() => 1));
  const [change] = await reroll.changes(space, 'ConfigMap/shared');
  expect((change?.woken.length ?? 0) + (change?.more?.woken ?? 0)).toBe(COUNT);
  // Those that are listed have an outcome of their own; the others are counted.
  const listed = new Set(change?.woken.map(({ workload }) => workload));
  await eventually(async () => {
    const outcomes = (await reroll.outcomes(space)).filter(
      ({ state, workload }) => state === 'reloaded' && workload.includes('/user-'),
    );
    const counted = change ? await reroll.history.tally(change) : null;
    expect(new Set(outcomes.map(({ workload }) => workload))).toEqual(listed);
    expect(counted).toEqual({ Reloaded: COUNT - listed.size });
    return true;
  });
});
