import { expect, it } from 'vitest';
import { auto, configMap, deployment, usingEnvFrom } from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace } from '../support/kube.ts';
import { startReroll } from '../support/reroll.ts';
import { RolloutCount, inStep } from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';

it('--max-reloads-per-minute: all workers share one limit, none is lost, and a namespace with many does not hold up another', async () => {
  const cluster = sharedCluster();
  const [many, few] = await Promise.all([namespace(connect(cluster)), namespace(connect(cluster))]);
  const users = (count: number): string[] =>
    Array.from({ length: count }, (_, index) => `Deployment/user-${index}`);
  const groups = [
    { space: many, refs: users(12) },
    { space: few, refs: users(2) },
  ];
  for (const { space, refs } of groups) {
    await space.apply(configMap('cm', { v: '1' }));
    await space.applyAll(refs.map((ref) => deployment(ref.slice(11), auto(), usingEnvFrom('cm'))));
  }
  // One a second, six at once: the twelve alone take six seconds.
  const reroll = await startReroll({
    cluster,
    namespaces: [many, few],
    workers: 2,
    workerFlags: ['--max-reloads-per-minute=60'],
  });
  for (const { space, refs } of groups) for (const ref of refs) await inStep(space, ref, ['ConfigMap/cm']);
  // What only records is no reload, and takes no token.
  expect(await reroll.redis.exists(reroll.catalog.keys.budget)).toBe(0);
  const [ofMany = [], ofFew = []] = await Promise.all(
    groups.map(({ space, refs }) => Promise.all(refs.map((ref) => RolloutCount.from(space, ref)))),
  );
  const rolled = async (counts: readonly RolloutCount[]): Promise<number> =>
    (await Promise.all(counts.map((count) => count.now()))).reduce((sum, times) => sum + times, 0);
  await many.setData('ConfigMap/cm', { v: '2' });
  await eventually(async () => (await rolled(ofMany)) > 0);
  await few.setData('ConfigMap/cm', { v: '2' });
  await eventually(async () => (await rolled(ofFew)) === 2);
  expect(await rolled(ofMany)).toBeLessThan(12);
  await eventually(async () => (await rolled(ofMany)) === 12);
  await reroll.idle();
  expect(await rolled(ofFew)).toBe(2);
  expect(await Promise.all(ofMany.map((count) => count.now()))).toEqual(ofMany.map(() => 1));
});
