import { expect, it } from 'vitest';
import { auto, configMap, deployment, usingEnvFrom } from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace } from '../support/kube.ts';
import { startReroll } from '../support/reroll.ts';
import { countRollouts, inStep } from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';

it('--max-reloads-per-minute: all workers share one limit, none is lost, and a namespace with many does not hold up another', async () => {
  const cluster = sharedCluster();
  const [many, few] = await Promise.all([namespace(connect(cluster)), namespace(connect(cluster))]);
  const users = (count: number): string[] =>
    Array.from({ length: count }, (_, index) => `Deployment/user-${index}`);
  const groups = [
    { space: many, refs: users(9) },
    { space: few, refs: users(1) },
  ];
  for (const { space, refs } of groups) {
    await space.apply(configMap('cm', { v: '1' }));
    await space.applyAll(refs.map((ref) => deployment(ref.slice(11), auto(), usingEnvFrom('cm'))));
  }
  // One a second, six at once: the nine alone take three seconds.
  const reroll = await startReroll({
    cluster,
    namespaces: [many, few],
    workers: 2,
    workerFlags: ['--max-reloads-per-minute=60'],
  });
  for (const { space, refs } of groups) for (const ref of refs) await inStep(space, ref, ['ConfigMap/cm']);
  // What only records is no reload, and takes no token.
  expect(await reroll.redis.exists(reroll.catalog.keys.budget)).toBe(0);
  const [ofMany, ofFew] = [await countRollouts(many, users(9)), await countRollouts(few, users(1))];
  const reloaded = async (counts: typeof ofMany): Promise<number> =>
    (await counts()).reduce((sum, times) => sum + times, 0);
  await many.setData('ConfigMap/cm', { v: '2' });
  await eventually(async () => (await reloaded(ofMany)) > 0);
  await few.setData('ConfigMap/cm', { v: '2' });
  await eventually(async () => (await reloaded(ofFew)) === 1);
  expect(await reloaded(ofMany)).toBeLessThan(9);
  await eventually(async () => (await reloaded(ofMany)) === 9);
  await reroll.idle();
  expect(await ofFew()).toEqual([1]);
  expect(await ofMany()).toEqual(users(9).map(() => 1));
});
