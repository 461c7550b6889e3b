import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { connect, namespace } from '../support/kube.ts';
import type { App } from '../support/processes.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import { mendedCluster } from './support/cluster.ts';
import { Fleet } from './support/fleet.ts';
import { QUICK_LOCK, QUICK_RESYNC } from './support/settings.ts';

/** Longer than the API server takes to answer the worker's requests. */
const UNTIL_ALL_WAIT = 200;
const TAKEN_BACK = 'a job of a lost worker was put back into the queue';

let fleet: Fleet;
let reroll: Reroll;

beforeAll(async () => {
  const cluster = await mendedCluster();
  const space = await namespace(connect(cluster));
  fleet = await Fleet.create(space);
  reroll = await startReroll({
    cluster,
    namespaces: [space],
    sweepInterval: QUICK_RESYNC,
    workerFlags: QUICK_LOCK,
  });
});

beforeEach(() => fleet.adopted());

/**
 * Stops the only worker when its jobs at work have read their workloads and asked Redis what is known of them:
 * the answers wait for it, so that when it thaws it decides by what was true when it froze.
 */
async function freezeAtWork(worker: App): Promise<void> {
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

function onlyWorker(): App {
  const [only, ...others] = reroll.workers.filter(({ isRunning }) => isRunning);
  if (!only || others.length > 0)
    throw new Error(`expected one worker that runs, found ${others.length + 1}`);
  return only;
}

test('a worker is killed in the middle of 200 changes: another takes its jobs', async ({ annotate }) => {
  const worker = onlyWorker();
  await fleet.inTheMiddle(async (changeTheRest) => {
    await freezeAtWork(worker);
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

test('a worker frozen past its lock goes on where another has finished, and nothing is reloaded twice', async () => {
  const frozen = onlyWorker();
  await fleet.inTheMiddle(async (changeTheRest) => {
    await freezeAtWork(frozen);
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
