import { expect, test } from 'vitest';
import { DELETED_HASH } from '@reroll/core/record/record-hash';
import { auto, configMap, deployment, usingEnvFrom } from '../support/objects/builders.ts';
import { connect, namespace } from '../support/kube.ts';
import { startReroll } from '../support/reroll.ts';
import { RolloutCount, inStep, recordOf } from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';
import { forgetThePast, linkTo, mendedCluster, portOf, reachedAt } from './support/cluster.ts';

test('with --reload-on-delete, a deletion that a running watcher sees only at a re-list reloads once, and nothing else does', async () => {
  const cluster = await mendedCluster();
  const link = await linkTo(portOf(cluster, 'apiserver'));
  const space = await namespace(connect(cluster));
  await space.apply(
    configMap('gone', { v: '1' }),
    configMap('kept', { v: '1' }),
    deployment('gone', auto(), usingEnvFrom('gone')),
    deployment('kept', auto(), usingEnvFrom('kept')),
  );
  const reroll = await startReroll({
    cluster: reachedAt(cluster, link.port),
    namespaces: [space],
    flags: ['--reload-on-delete=true', '--reload-strategy=annotations'],
    // It stays the leader meanwhile.
    watcherFlags: ['--lease-duration=10m', '--lease-renew-deadline=9m', '--lease-retry-period=1s'],
  });
  await inStep(space, 'Deployment/gone', ['ConfigMap/gone']);
  await inStep(space, 'Deployment/kept', ['ConfigMap/kept']);
  await reroll.idle();
  const templates = async (): Promise<unknown[]> =>
    Promise.all(['gone', 'kept'].map(async (name) => (await space.get(`Deployment/${name}`)).spec.template));
  const [, kept] = await templates();

  link.refuse();
  await space.delete('ConfigMap/gone');
  const { metadata } = await space.setData('ConfigMap/kept', { v: '1' });
  await forgetThePast(cluster, metadata.resourceVersion);
  const rollouts = await RolloutCount.from(space, 'Deployment/gone');
  link.accept();

  await eventually(
    async () => {
      const metrics = (await reroll.watchers[0]?.metrics()) ?? '';
      return /^reroll_relists_total\{kind="ConfigMap"\} [1-9]/mu.test(metrics);
    },
    { what: 'a re-list' },
  );
  await eventually(
    async () => recordOf(await space.get('Deployment/gone'))['ConfigMap/gone'] === DELETED_HASH,
    { what: 'the deletion to be recorded' },
  );
  await reroll.idle();
  expect(await rollouts.now()).toBe(1);
  expect((await templates())[1]).toEqual(kept);
  expect(reroll.watchers.map(({ isRunning }) => isRunning)).toEqual([true]);
});
