import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { TcpProxy } from '@reroll/kube/testing/tcp-proxy';
import { connect, namespace } from '../support/kube.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import { linkTo, mendedCluster, portOf } from './support/cluster.ts';
import { Fleet } from './support/fleet.ts';
import { QUICK_LOCK, QUICK_RESYNC } from './support/settings.ts';

let link: TcpProxy;
let fleet: Fleet;
let reroll: Reroll;

beforeAll(async () => {
  const cluster = await mendedCluster();
  link = await linkTo(portOf(cluster, 'redis'));
  const space = await namespace(connect(cluster));
  fleet = await Fleet.create(space);
  reroll = await startReroll({
    cluster,
    namespaces: [space],
    redisUrl: `redis://127.0.0.1:${link.port}`,
    watchers: 2,
    workers: 2,
    debounce: '200ms',
    sweepInterval: QUICK_RESYNC,
    workerFlags: QUICK_LOCK,
  });
});

beforeEach(async () => {
  link.delayMs = 0;
  await fleet.adopted();
});

test('each answer of Redis takes 100 ms', async () => {
  await fleet.inTheMiddle(async (changeTheRest) => {
    link.delayMs = 50;
    await changeTheRest();
  });
  await fleet.settled(reroll);
  expect(await fleet.anomalies()).toEqual([]);
});

test('all connections to Redis are cut four times a second for five seconds in the middle of 200 changes', async () => {
  await fleet.inTheMiddle(async (changeTheRest) => {
    const changing = changeTheRest();
    for (let count = 0; count < 20; count += 1) {
      link.cut();
      await pause(250);
    }
    await changing;
  });
  await fleet.settled(reroll);
  expect(await fleet.anomalies()).toEqual([]);
});
