import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { connect, namespace } from '../support/kube.ts';
import type { App } from '../support/processes.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import { mendedCluster } from './support/cluster.ts';
import { Fleet } from './support/fleet.ts';
import { QUICK_LOCK, QUICK_RESYNC } from './support/settings.ts';

/** Longer than the API server takes to answer the worker's requests. */
const UNTIL_ALL_WAIT = 200;
const TAKEN_BACK = 'a job of a lost worker was put back into the queue';

/**
 * Stops the only worker when its jobs at work have read their workloads and asked Redis what is known of them:
 * the answers wait for it, so that when it thaws it decides by what was true when it froze.
 */
async function freezeAtWork(reroll: Reroll, worker: App): Promise<void> {
  const { cluster } = reroll.options;
  for (;;) {
    await cluster.kill('redis', 'SIGSTOP');
    await pause(UNTIL_ALL_WAIT);
    await worker.kill('SIGSTOP');
    await cluster.kill('redis', 'SIGCONT');
    if ((await reroll.queues.reloads.getActiveCount()) > 0) return;
    await worker.kill('SIGCONT');
  }
}

test('a worker is killed in the middle of 200 changes: another takes its jobs', async ({ annotate }) => {
  const cluster = await mendedCluster();
  const space = await namespace(connect(cluster));
  const fleet = await Fleet.create(space);
  const reroll = await startReroll({
    cluster,
    namespaces: [space],
    sweepInterval: QUICK_RESYNC,
    workerFlags: QUICK_LOCK,
  });
  const [worker] = reroll.workers as [App];
  await fleet.adopted();

  await fleet.inTheMiddle(async (changeTheRest) => {
    await freezeAtWork(reroll, worker);
    await worker.kill('SIGKILL');
    await changeTheRest();
  });
  const other = reroll.start('worker');
  await other.ready();
  const readyAt = performance.now();
  await fleet.inStep();
  await annotate(`all rolled ${Math.round(performance.now() - readyAt)} ms after another worker was ready`);

  await fleet.settled(reroll);
  expect(await fleet.anomalies()).toEqual([]);
  expect(other.logs()).toContain(TAKEN_BACK);
});

test('a worker frozen past its lock goes on where another has finished, and nothing is rolled twice', async () => {
  const cluster = await mendedCluster();
  const space = await namespace(connect(cluster));
  const fleet = await Fleet.create(space);
  const reroll = await startReroll({
    cluster,
    namespaces: [space],
    sweepInterval: QUICK_RESYNC,
    workerFlags: QUICK_LOCK,
  });
  const [frozen] = reroll.workers as [App];
  await fleet.adopted();

  await fleet.inTheMiddle(async (changeTheRest) => {
    await freezeAtWork(reroll, frozen);
    await changeTheRest();
  });
  const other = reroll.start('worker');
  await fleet.settled(reroll);
  expect(other.logs()).toContain(TAKEN_BACK);
  await frozen.kill('SIGCONT');
  await frozen.ready();

  await fleet.settled(reroll);
  expect(await fleet.anomalies()).toEqual([]);
});
