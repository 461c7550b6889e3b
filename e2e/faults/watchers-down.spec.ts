import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { connect, namespace } from '../support/kube.ts';
import { startReroll } from '../support/reroll.ts';
import { mendedCluster } from './support/cluster.ts';
import { Fleet, membersNamed, type Member } from './support/fleet.ts';
import { QUICK_RESYNC } from './support/settings.ts';

test('what changed while no watcher was there is reloaded once when one is back', async () => {
  const cluster = await mendedCluster();
  const space = await namespace(connect(cluster));
  const fleet = await Fleet.create(space);
  const reroll = await startReroll({ cluster, namespaces: [space], sweepInterval: QUICK_RESYNC });
  await fleet.adopted();

  await Promise.all(reroll.watchers.map((watcher) => watcher.stop()));
  await fleet.change();
  reroll.start('watcher');

  await fleet.settled(reroll);
  expect(await fleet.anomalies()).toEqual([]);
});

/** Times of writes have whole seconds: after this, what is written next is strictly later by the clock. */
async function nextSecond(): Promise<void> {
  await pause(1_100);
}

test('a workload created while no watcher was there is reloaded if its source changed after that, and only then', async () => {
  const cluster = await mendedCluster();
  const space = await namespace(connect(cluster));
  const reroll = await startReroll({ cluster, namespaces: [space], sweepInterval: QUICK_RESYNC });
  const changedAfter = membersNamed('after', 80);
  const untouched = membersNamed('untouched', 40);
  const changedBefore = membersNamed('before', 40);
  const changedJustBefore = membersNamed('just-before', 40);
  const fleet = new Fleet(space, [...changedAfter, ...untouched, ...changedBefore, ...changedJustBefore]);
  fleet.follow();
  await fleet.createSources();
  await nextSecond();

  await Promise.all(reroll.watchers.map((watcher) => watcher.stop()));
  await fleet.change(changedBefore);
  await nextSecond();
  await fleet.createWorkloads([...untouched, ...changedBefore]);
  await fleet.createWorkloads(changedAfter);
  await fleet.change(changedAfter);
  await fleet.change(changedJustBefore);
  await fleet.createWorkloads(changedJustBefore);
  reroll.start('watcher');

  await fleet.settled(reroll);
  const expected = (member: Member): readonly number[] => {
    // A change after the creation is never missed, not even within the same second.
    if (changedAfter.includes(member)) return [1];
    // Within the same second nobody can tell which was first: such a workload may be reloaded once, in vain.
    return changedJustBefore.includes(member) ? [0, 1] : [0];
  };
  expect(await fleet.anomalies(expected)).toEqual([]);
});
