import { expect, test } from 'vitest';
import { connect, namespace } from '../support/kube.ts';
import { startReroll } from '../support/reroll.ts';
import { forgetThePast, linkTo, mendedCluster, portOf, reachedAt } from './support/cluster.ts';
import { Fleet } from './support/fleet.ts';
import { keepRunning } from './support/keep-running.ts';
import { QUICK_RESYNC } from './support/settings.ts';

test('etcd is compacted while every watch is cut in the middle of 200 changes: all lists are read again', async () => {
  const cluster = await mendedCluster();
  const link = await linkTo(portOf(cluster, 'apiserver'));
  const space = await namespace(connect(cluster));
  const fleet = await Fleet.create(space);
  const reroll = await startReroll({
    cluster: reachedAt(cluster, link.port),
    namespaces: [space],
    watchers: 2,
    workers: 2,
    sweepInterval: QUICK_RESYNC,
    // Whoever leads goes on, so that it is the same process that lists anew.
    watcherFlags: ['--lease-duration=60s', '--lease-renew-deadline=50s', '--lease-retry-period=1s'],
  });
  keepRunning(reroll);
  await fleet.adopted();
  const leader = await reroll.leader();

  await fleet.inTheMiddle(async (changeTheRest) => {
    link.refuse();
    await changeTheRest();
    const last = await space.get(fleet.members.at(-1)?.source ?? '');
    await forgetThePast(cluster, last.metadata.resourceVersion);
    link.accept();
  });

  await fleet.settled(reroll);
  expect(await fleet.anomalies()).toEqual([]);
  expect(await leader.metrics()).toMatch(/^reroll_relists_total\{kind="ConfigMap"\} [1-9]/mu);
});
