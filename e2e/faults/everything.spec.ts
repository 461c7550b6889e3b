import { expect, test } from 'vitest';
import { connect, namespace } from '../support/kube.ts';
import { startReroll } from '../support/reroll.ts';
import { mendedCluster } from './support/cluster.ts';
import { Fleet } from './support/fleet.ts';
import { QUICK_LEASE, QUICK_LOCK, QUICK_RESYNC } from './support/settings.ts';

test('everything is killed at once in the middle of 200 changes and started again', async ({ annotate }) => {
  const cluster = await mendedCluster();
  const space = await namespace(connect(cluster));
  const fleet = await Fleet.create(space);
  const reroll = await startReroll({
    cluster,
    namespaces: [space],
    watchers: 2,
    workers: 2,
    sweepInterval: QUICK_RESYNC,
    watcherFlags: QUICK_LEASE,
    workerFlags: QUICK_LOCK,
  });
  await fleet.adopted();
  let startedAt = 0;

  await fleet.inTheMiddle(async (changeTheRest) => {
    await Promise.all([
      ...reroll.apps.map((app) => app.kill('SIGKILL')),
      cluster.kill('redis', 'SIGKILL'),
      cluster.kill('apiserver', 'SIGKILL'),
    ]);
    startedAt = performance.now();
    for (const kind of ['watcher', 'watcher', 'worker', 'worker'] as const) reroll.start(kind);
    const changing = changeTheRest();
    await Promise.all([cluster.restart('redis'), cluster.restart('apiserver')]);
    await changing;
  });
  await fleet.inStep();
  await annotate(`all rolled ${Math.round(performance.now() - startedAt)} ms after the start of all`);

  await fleet.settled(reroll);
  expect(await fleet.anomalies()).toEqual([]);
});
