import { expect, it } from 'vitest';
import { auto, configMap, deployment, usingEnvFrom } from './support/builders.ts';
import { sharedCluster } from './support/cluster.ts';
import { connect, namespace } from './support/kube.ts';
import { startReroll } from './support/reroll.ts';
import { RolloutCount, inStep } from './support/rollouts.ts';
import { eventually } from './support/wait.ts';

it('no more than --max-reloads-per-minute are sent, by all workers together, and none is lost', async () => {
  const space = await namespace(connect(sharedCluster()));
  const refs = Array.from({ length: 10 }, (_, index) => `Deployment/user-${index}`);
  await space.apply(configMap('cm', { v: '1' }));
  await space.applyAll(refs.map((ref) => deployment(ref.slice(11), auto(), usingEnvFrom('cm'))));
  // One a second, six at once: ten take four seconds.
  const reroll = await startReroll({
    cluster: sharedCluster(),
    namespaces: [space],
    workers: 2,
    workerFlags: ['--max-reloads-per-minute=60'],
  });
  for (const ref of refs) await inStep(space, ref, ['ConfigMap/cm']);
  // What only records is no reload, and takes no token.
  expect(await reroll.redis.exists(reroll.catalog.keys.budget)).toBe(0);
  const counts = await Promise.all(refs.map((ref) => RolloutCount.from(space, ref)));
  const began = performance.now();
  await space.setData('ConfigMap/cm', { v: '2' });
  const rolled = async (): Promise<number> =>
    (await Promise.all(counts.map((count) => count.now()))).filter((times) => times === 1).length;
  await eventually(async () => (await rolled()) === 10);
  expect(performance.now() - began).toBeGreaterThan(3_500);
  await reroll.idle();
  expect(await Promise.all(counts.map((count) => count.now()))).toEqual(refs.map(() => 1));
});
