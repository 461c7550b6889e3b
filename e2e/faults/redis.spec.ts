import { cp, rename, rm } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { Cluster } from '../../tools/cluster/src/cluster.ts';
import { cleanUp } from '../support/cleanup.ts';
import { connect, namespace } from '../support/kube.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import { mendedCluster } from './support/cluster.ts';
import { Fleet } from './support/fleet.ts';
import { QUICK_LOCK, QUICK_SWEEP } from './support/settings.ts';

let cluster: Cluster;
let fleet: Fleet;
let reroll: Reroll;

/** Two watchers, two workers, and a delay that leaves some jobs delayed while others are at work. */
beforeAll(async () => {
  cluster = await mendedCluster();
  const space = await namespace(connect(cluster));
  fleet = await Fleet.create(space);
  reroll = await startReroll({
    cluster,
    namespaces: [space],
    watchers: 2,
    workers: 2,
    debounce: '200ms',
    sweepInterval: QUICK_SWEEP,
    workerFlags: QUICK_LOCK,
  });
});

beforeEach(async () => {
  await mendedCluster();
  await fleet.adopted();
});

test('Redis is killed and started again in the middle of 200 changes', async ({ annotate }) => {
  let backAt = 0;

  await fleet.inTheMiddle(async (changeTheRest) => {
    await cluster.kill('redis', 'SIGKILL');
    await changeTheRest();
    await cluster.restart('redis');
    backAt = performance.now();
  });
  await fleet.inStep();
  await annotate(`all rolled ${Math.round(performance.now() - backAt)} ms after Redis was back`);

  await fleet.settled(reroll);
  expect(await fleet.anomalies()).toEqual([]);
});

test('Redis is emptied in the middle of 200 changes', async ({ annotate }) => {
  let emptiedAt = 0;

  await fleet.inTheMiddle(async (changeTheRest) => {
    await reroll.redis.flushall();
    emptiedAt = performance.now();
    await changeTheRest();
  });
  await fleet.inStep();
  await annotate(`all rolled ${Math.round(performance.now() - emptiedAt)} ms after Redis was emptied`);

  await fleet.settled(reroll);
  expect(await fleet.anomalies()).toEqual([]);
});

test('Redis is set back by a second in the middle of 200 changes', async ({ annotate }) => {
  const copy = `${cluster.redisDataDir}-copy`;
  cleanUp(() => rm(copy, { recursive: true, force: true }));
  let backAt = 0;

  await fleet.inTheMiddle(async (changeTheRest) => {
    await cp(cluster.redisDataDir, copy, { recursive: true });
    await pause(1_000);
    const changing = changeTheRest();
    await fleet.rolled(fleet.rolledNow + 20);
    await cluster.kill('redis', 'SIGKILL');
    await rm(cluster.redisDataDir, { recursive: true });
    await rename(copy, cluster.redisDataDir);
    await cluster.restart('redis');
    backAt = performance.now();
    await changing;
  });
  await fleet.inStep();
  await annotate(`all rolled ${Math.round(performance.now() - backAt)} ms after Redis was back`);

  await fleet.settled(reroll);
  expect(await fleet.anomalies()).toEqual([]);
});

test('Redis answers nothing for five seconds in the middle of 200 changes', async () => {
  await fleet.inTheMiddle(async (changeTheRest) => {
    await cluster.kill('redis', 'SIGSTOP');
    await changeTheRest();
    await pause(5_000);
    await cluster.kill('redis', 'SIGCONT');
  });

  await fleet.settled(reroll);
  expect(await fleet.anomalies()).toEqual([]);
});
