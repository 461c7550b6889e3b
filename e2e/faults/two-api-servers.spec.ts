import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { connect, namespace } from '../support/kube.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import { ApiProxy, isWatch } from './support/api-proxy.ts';
import { mendedCluster, portOf, reachedAt } from './support/cluster.ts';
import { Fleet, type Member } from './support/fleet.ts';
import { keepRunning } from './support/keep-running.ts';
import { secondApiServer, type SecondApiServer } from './support/second-api-server.ts';
import { QUICK_LEASE, QUICK_RESYNC } from './support/settings.ts';

/** Long enough for what a worker or the watcher would do if they knew. */
const A_WHILE = 3_000;

let first: number;
let second: SecondApiServer;
let proxy: ApiProxy;
let fleet: Fleet;
let reroll: Reroll;

beforeAll(async () => {
  const cluster = await mendedCluster();
  first = portOf(cluster, 'apiserver');
  second = await secondApiServer(cluster);
  proxy = await ApiProxy.start(first);
  // The spec itself asks the first one, which is never behind.
  const space = await namespace(connect(cluster));
  fleet = await Fleet.create(space, 60);
  reroll = await startReroll({
    cluster: reachedAt(cluster, proxy.port, 'http'),
    namespaces: [space],
    watchers: 2,
    workers: 2,
    sweepInterval: QUICK_RESYNC,
    watcherFlags: QUICK_LEASE,
  });
  keepRunning(reroll);
});

beforeEach(async () => {
  second.etcd.thaw();
  second.etcd.delayMs = 0;
  moveTo(() => first);
  await fleet.adopted();
});

/** As a load balancer does: connections are ended, and the next ones are to another server. */
function moveTo(route: ApiProxy['route']): void {
  proxy.route = route;
  proxy.cut();
}

const watchesMoved: ApiProxy['route'] = (request) => (isWatch(request) ? second.port : first);

/** Resolves when a change reaches workloads by way of what was moved; it is one that counts. */
async function changesArrive(members: readonly Member[]): Promise<void> {
  const before = fleet.rolledNow;
  await fleet.change(members);
  await fleet.rolled(before + members.length);
}

test('watches on an API server that is cut off from etcd: what they miss is reloaded once they are moved back', async () => {
  const [probes, changed, changedTwice] = [
    fleet.members.slice(0, 5),
    fleet.members.slice(5, 40),
    fleet.members.slice(40, 50),
  ];
  moveTo(watchesMoved);
  await changesArrive(probes);
  second.etcd.freeze();
  await fleet.change(changed);
  await fleet.change(changedTwice);
  await pause(A_WHILE);
  expect(fleet.rolledNow, 'reloaded by watches that show nothing').toBe(probes.length);

  // A new leader has nothing but this server to list from.
  await (await reroll.leader()).kill('SIGKILL');
  await fleet.change(changedTwice);
  await pause(A_WHILE);
  moveTo(() => first);
  await fleet.settled(reroll);
  // Nobody saw the state in between.
  const expected = (member: Member): number[] =>
    changedTwice.includes(member) ? [1] : [fleet.changesOf(member)];
  expect(await fleet.anomalies(expected)).toEqual([]);

  second.etcd.thaw();
  moveTo(() => second.port);
  await fleet.change();
  await fleet.settled(reroll);
});

test('everything on an API server that is cut off from etcd, and back', async () => {
  await fleet.inTheMiddle(async (changeTheRest) => {
    second.etcd.freeze();
    moveTo(() => second.port);
    await changeTheRest();
    await pause(A_WHILE);
    moveTo(() => first);
  });
  await fleet.settled(reroll);
  expect(await fleet.anomalies()).toEqual([]);
});

test('watches two seconds behind what workers read: each change is one reload, and nothing goes back', async () => {
  moveTo(watchesMoved);
  second.etcd.delayMs = 2_000;
  await fleet.change();
  await fleet.rolled(1);
  await fleet.change(fleet.members.slice(0, 30));
  await fleet.settled(reroll);
  // Some second changes come between a worker's read and its patch.
  expect(await fleet.anomaliesOfChurn()).toEqual([]);
});
