import { beforeAll, beforeEach, expect, test } from 'vitest';
import { connect, namespace, Space } from '../support/kube.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import { mendedCluster } from './support/cluster.ts';
import { Fleet } from './support/fleet.ts';
import { QUICK_LEASE, QUICK_RESYNC } from './support/settings.ts';

let fleet: Fleet;
let reroll: Reroll;
let space: Space;

beforeAll(async () => {
  const cluster = await mendedCluster();
  space = await namespace(connect(cluster));
  fleet = await Fleet.create(space);
  reroll = await startReroll({
    cluster,
    namespaces: [space],
    watchers: 2,
    sweepInterval: QUICK_RESYNC,
    watcherFlags: QUICK_LEASE,
  });
});

beforeEach(() => fleet.adopted());

test('the leader is killed in the middle of 200 changes: the standby goes on', async ({ annotate }) => {
  await fleet.inTheMiddle(async (changeTheRest) => {
    const leader = await reroll.leader();
    const killedAt = performance.now();
    await leader.kill('SIGKILL');
    await changeTheRest();
    await reroll.leader();
    await annotate(`a new leader after ${Math.round(performance.now() - killedAt)} ms`);
  });

  await fleet.settled(reroll);
  expect(await fleet.anomalies()).toEqual([]);
});

test('a leader frozen past its Lease ends when it thaws, and nothing that it still sends is taken', async () => {
  const frozen = await reroll.leader();
  const successor = reroll.start('watcher');
  await reroll.ready();

  await fleet.inTheMiddle(async (changeTheRest) => {
    await frozen.kill('SIGSTOP');
    await changeTheRest();
    await expect.poll(() => successor.logs(), { timeout: 60_000 }).toContain('became leader');
  });
  await fleet.settled(reroll);
  const before = await leadership(reroll, space);
  await frozen.kill('SIGCONT');

  expect(await frozen.exited).toBe(1);
  expect(frozen.logs()).toContain('no longer leader, shutting down');
  expect(await leadership(reroll, space)).toEqual(before);
  expect(before.holder).toMatch(new RegExp(`^${successor.name}_`));
  expect(await successor.metrics()).toMatch(/^reroll_leader 1$/m);
  await fleet.settled(reroll);
  expect(await fleet.anomalies()).toEqual([]);
});

/** Who holds the Lease, and who wrote the catalog last: its term and its how manyth write that was. */
async function leadership(reroll: Reroll, { client }: Space): Promise<{ holder: string; writer: string }> {
  const lease = await new Space(client, reroll.install).get('Lease/reroll-watcher');
  const { holderIdentity } = lease.spec as unknown as { holderIdentity: string };
  return { holder: holderIdentity, writer: (await reroll.redis.get(reroll.catalog.keys.writer)) ?? '' };
}
