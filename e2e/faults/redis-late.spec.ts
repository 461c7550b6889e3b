import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { connect, namespace } from '../support/kube.ts';
import { prepareReroll } from '../support/reroll.ts';
import { eventually } from '../support/wait.ts';
import { mendedCluster } from './support/cluster.ts';
import { Fleet } from './support/fleet.ts';
import { QUICK_RESYNC } from './support/settings.ts';

/** Longer than a command may wait for its answer. */
const LONG = 11_000;

test('watcher and worker started without Redis say so once, live without being ready, and go on when it comes', async () => {
  const cluster = await mendedCluster();
  const space = await namespace(connect(cluster));
  const fleet = await Fleet.create(space, 20);
  const reroll = await prepareReroll({ cluster, namespaces: [space], sweepInterval: QUICK_RESYNC });
  await cluster.kill('redis', 'SIGKILL');
  const apps = [reroll.start('watcher'), reroll.start('worker')];
  const impatient = reroll.start('worker');

  for (const app of [...apps, impatient]) {
    await eventually(async () => (await app.status('/ready')) === 503, { what: 'not ready', within: 30_000 });
    expect(await app.status('/live')).toBe(200);
  }
  await pause(LONG);
  expect(await impatient.stop(), 'exit code of one that is asked to end while it waits').toBe(0);
  for (const app of apps) {
    expect(app.isRunning).toBe(true);
    expect(app.logs().match(/Redis cannot be reached/g)).toHaveLength(1);
  }
  await cluster.restart('redis');

  await reroll.ready();
  await fleet.adopted();
  await fleet.change();
  await fleet.settled(reroll);
  expect(await fleet.anomalies()).toEqual([]);
});
