import { expect, test } from 'vitest';
import { connect, namespace, Space } from '../support/kube.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import { eventually } from '../support/wait.ts';
import { mendedCluster } from './support/cluster.ts';
import { Fleet } from './support/fleet.ts';
import { keepRunning } from './support/keep-running.ts';
import { EtcdBackup } from './support/restore.ts';
import { QUICK_LEASE, QUICK_RESYNC } from './support/settings.ts';

/** Resolves when the Lease was written some times more, so that leader and standby have both seen a later one. */
async function renewed(own: Space): Promise<void> {
  const seen = new Set<string>();
  await eventually(
    async () => {
      const path = `/apis/coordination.k8s.io/v1/namespaces/${own.name}/leases`;
      const { body } = await own.client.get<{ items: { metadata: { resourceVersion: string } }[] }>(path);
      for (const { metadata } of body.items) seen.add(metadata.resourceVersion);
      return seen.size > 3;
    },
    { what: 'the Lease to be renewed', within: 30_000 },
  );
}

/** All that ran have ended: one has noticed, and the others have too or were fenced by it. A new leader began after that. */
async function startedAnew(reroll: Reroll, before: readonly string[]): Promise<void> {
  const ended = reroll.watchers.filter(({ name }) => before.includes(name));
  expect(await Promise.all(ended.map((app) => app.exited))).toEqual(ended.map(() => 1));
  expect(ended.map((app) => app.logs()).join()).toContain('etcd was restored to an earlier state');
  await reroll.leader(60_000);
}

test('etcd is set back while no watcher runs: the next ones notice by the catalog, and all recovers', async () => {
  const cluster = await mendedCluster();
  const space = await namespace(connect(cluster));
  const fleet = await Fleet.create(space, 12);
  const reroll = await startReroll({
    cluster,
    namespaces: [space],
    sweepInterval: QUICK_RESYNC,
    watcherFlags: QUICK_LEASE,
  });
  const keepNoMore = keepRunning(reroll);
  await fleet.adopted();
  await fleet.change(fleet.members.slice(0, 4));
  await fleet.settled(reroll);
  const goBack = fleet.backUp();
  const backup = await EtcdBackup.take(cluster);
  await fleet.change(fleet.members.slice(2, 8));
  await fleet.settled(reroll);

  keepNoMore();
  await Promise.all(reroll.watchers.map((app) => app.kill('SIGKILL')));
  await backup.restore();
  goBack();
  await fleet.change(fleet.members.slice(6, 10));
  const first = reroll.start('watcher');
  keepRunning(reroll);
  expect(await first.exited).toBe(1);
  expect(first.logs()).toContain('etcd was restored to an earlier state');
  await fleet.settled(reroll);
  expect(await fleet.anomalies()).toEqual([]);
});

test.each<[string, (backup: EtcdBackup) => Promise<void>]>([
  ['to its old revision', (backup) => backup.restore()],
  ['with a bump of the revision', (backup) => backup.restoreWithBump()],
])(
  'etcd is set back %s: all recovers without a hand, and nothing is lost or reloaded twice',
  async (_, restore) => {
    const cluster = await mendedCluster();
    const space = await namespace(connect(cluster));
    const fleet = await Fleet.create(space, 24);
    const reroll = await startReroll({
      cluster,
      namespaces: [space],
      watchers: 2,
      workers: 2,
      sweepInterval: QUICK_RESYNC,
      watcherFlags: QUICK_LEASE,
    });
    keepRunning(reroll);
    const own = new Space(space.client, reroll.install);
    await fleet.adopted();

    // Reloaded before the backup, some; some that the backup finds changed and not yet reloaded.
    await fleet.change(fleet.members.slice(0, 8));
    await fleet.settled(reroll);
    await Promise.all(reroll.workers.map((app) => app.kill('SIGSTOP')));
    await fleet.change(fleet.members.slice(6, 12));
    const goBack = fleet.backUp();
    const backup = await EtcdBackup.take(cluster);
    await Promise.all(reroll.workers.map((app) => app.kill('SIGCONT')));

    // After the backup: changed and reloaded, and lost with the restore.
    await fleet.change(fleet.members.slice(4, 18));
    await fleet.settled(reroll);
    await renewed(own);
    const before = reroll.watchers.filter(({ isRunning }) => isRunning).map(({ name }) => name);
    await restore(backup);
    goBack();
    await fleet.change(fleet.members.slice(12, 22));
    await startedAnew(reroll, before);

    await fleet.settled(reroll);
    expect(await fleet.anomalies()).toEqual([]);
    await fleet.change();
    await fleet.settled(reroll);
    expect(await fleet.anomalies()).toEqual([]);
    expect((await own.events()).filter(({ reason }) => reason === 'EtcdRestored')).not.toEqual([]);
  },
);
