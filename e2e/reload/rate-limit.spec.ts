import { expect, it } from 'vitest';
import { auto, configMap, deployment, usingEnvFrom } from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace } from '../support/kube.ts';
import { startReroll } from '../support/reroll.ts';
import { RolloutCount, inStep } from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';

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

it('a namespace with many workloads does not hold up another', async () => {
  const cluster = sharedCluster();
  const [many, few] = await Promise.all([namespace(connect(cluster)), namespace(connect(cluster))]);
  const users = (count: number): string[] =>
    Array.from({ length: count }, (_, index) => `Deployment/user-${index}`);
  const groups = [
    { space: many, refs: users(16) },
    { space: few, refs: users(2) },
  ];
  for (const { space, refs } of groups) {
    await space.apply(configMap('cm', { v: '1' }));
    await space.applyAll(refs.map((ref) => deployment(ref.slice(11), auto(), usingEnvFrom('cm'))));
  }
  // One a second, six at once: the sixteen alone take ten seconds.
  const reroll = await startReroll({
    cluster,
    namespaces: [many, few],
    workers: 2,
    workerFlags: ['--max-reloads-per-minute=60'],
  });
  for (const { space, refs } of groups) for (const ref of refs) await inStep(space, ref, ['ConfigMap/cm']);
  const [ofMany = [], ofFew = []] = await Promise.all(
    groups.map(({ space, refs }) => Promise.all(refs.map((ref) => RolloutCount.from(space, ref)))),
  );
  const rolled = async (counts: readonly RolloutCount[]): Promise<number> =>
    (await Promise.all(counts.map((count) => count.now()))).reduce((sum, times) => sum + times, 0);
  await many.setData('ConfigMap/cm', { v: '2' });
  await eventually(async () => (await rolled(ofMany)) > 0);
  await few.setData('ConfigMap/cm', { v: '2' });
  await eventually(async () => (await rolled(ofFew)) === 2);
  expect(await rolled(ofMany)).toBeLessThan(16);
  await eventually(async () => (await rolled(ofMany)) === 16);
  await reroll.idle();
  expect(await rolled(ofFew)).toBe(2);
  expect(await Promise.all(ofMany.map((count) => count.now()))).toEqual(ofMany.map(() => 1));
});
