import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { Cluster } from '../../tools/cluster/src/cluster.ts';
import { connect, namespace } from '../support/kube.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import { mendedCluster } from './support/cluster.ts';
import { Fleet } from './support/fleet.ts';
import { QUICK_RESYNC } from './support/settings.ts';

let cluster: Cluster;
let fleet: Fleet;
let reroll: Reroll;

/** Two watchers, two workers, the Lease as it is by default. */
beforeAll(async () => {
  cluster = await mendedCluster();
  const space = await namespace(connect(cluster));
  fleet = await Fleet.create(space);
  reroll = await startReroll({
    cluster,
    namespaces: [space],
    watchers: 2,
    workers: 2,
    sweepInterval: QUICK_RESYNC,
  });
});

beforeEach(async () => {
  await mendedCluster();
  await fleet.adopted();
});

test('the API server is killed and started again in the middle of 200 changes', async ({ annotate }) => {
  let killedAt = 0;

  await fleet.inTheMiddle(async (changeTheRest) => {
    await cluster.kill('apiserver', 'SIGKILL');
    killedAt = performance.now();
    const changing = changeTheRest();
    await cluster.restart('apiserver');
    await changing;
  });
  await fleet.inStep();
  await annotate(`all rolled ${Math.round(performance.now() - killedAt)} ms after the API server was killed`);

  await fleet.settled(reroll);
  expect(await fleet.anomalies()).toEqual([]);
});

test('the API server answers nothing for five seconds in the middle of 200 changes', async () => {
  await fleet.inTheMiddle(async (changeTheRest) => {
    await cluster.kill('apiserver', 'SIGSTOP');
    await pause(5_000);
    await cluster.kill('apiserver', 'SIGCONT');
    await changeTheRest();
  });

  await fleet.settled(reroll);
  expect(await fleet.anomalies()).toEqual([]);
});
