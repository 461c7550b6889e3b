import { expect, test } from 'vitest';
import { connect, namespace } from '../support/kube.ts';
import { prepareReroll } from '../support/reroll.ts';
import { eventually } from '../support/wait.ts';
import { mendedCluster } from './support/cluster.ts';
import { Fleet } from './support/fleet.ts';
import { QUICK_RESYNC } from './support/settings.ts';

test('watcher and worker started without an API server live without being ready, and go on when it comes', async () => {
  const cluster = await mendedCluster();
  const space = await namespace(connect(cluster));
  const fleet = await Fleet.create(space, 20);
  const reroll = await prepareReroll({ cluster, namespaces: [space], sweepInterval: QUICK_RESYNC });
  await cluster.kill('apiserver', 'SIGKILL');
  const apps = [reroll.start('watcher'), reroll.start('worker')];
  const impatient = [reroll.start('watcher'), reroll.start('worker')];

  for (const app of [...apps, ...impatient]) {
    await eventually(async () => (await app.status('/ready')) === 503, { what: 'not ready', within: 30_000 });
    expect(await app.status('/live')).toBe(200);
    await eventually(() => app.logs().includes('cannot read the identity of the cluster'));
  }
  for (const app of impatient) {
    expect(await app.stop(), `exit code of ${app.name}, asked to end while it waits`).toBe(0);
  }
  await cluster.restart('apiserver');

  await reroll.ready();
  await fleet.adopted();
  await fleet.change();
  await fleet.settled(reroll);
  expect(await fleet.anomalies()).toEqual([]);
});
