import { cp, rename, rm } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { Cluster } from '../../tools/cluster/src/cluster.ts';
import { cleanUp } from '../support/cleanup.ts';
import { connect, namespace } from '../support/kube.ts';
import type { App } from '../support/processes.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import { eventually } from '../support/wait.ts';
import { mendedCluster } from './support/cluster.ts';
import { Fleet } from './support/fleet.ts';
import { QUICK_LOCK, QUICK_RESYNC } from './support/settings.ts';

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
    sweepInterval: QUICK_RESYNC,
    workerFlags: QUICK_LOCK,
  });
});

beforeEach(async () => {
  await mendedCluster();
  await fleet.adopted();
});

/** What a probe is told: by name of the check, `ok` or why not. */
async function readiness(app: App): Promise<{ status: number; checks: Record<string, string> }> {
  const answer = await fetch(`${await app.url()}/ready`);
  return { status: answer.status, checks: (await answer.json()) as Record<string, string> };
}

test('while Redis is away nobody is ready, though all of them live; when it is back, leader, standby and workers are', async () => {
  const apps = [await reroll.leader(), await reroll.standby(), ...reroll.workers];
  await cluster.kill('redis', 'SIGKILL');
  const saysSo = async (app: App): Promise<void> => {
    const isAway = async (): Promise<boolean> => (await readiness(app)).status === 503;
    await eventually(isAway, { what: `${app.name} not to be ready` });
    const { redis, ...others } = (await readiness(app)).checks;
    expect(redis, app.name).not.toBe('ok');
    expect(Object.values(others), app.name).toEqual(['ok']);
    for (const path of ['/live', '/healthz']) expect(await app.status(path), `${app.name} ${path}`).toBe(200);
  };
  await Promise.all(apps.map(saysSo));
  await cluster.restart('redis');
  await reroll.ready();
  for (const app of apps) {
    expect((await readiness(app)).status, app.name).toBe(200);
    expect(Object.values((await readiness(app)).checks), app.name).toEqual(['ok', 'ok']);
  }
});

test('a worker that is told to end while Redis is away, as by helm uninstall, ends in good order', async () => {
  const worker = reroll.start('worker');
  await worker.ready();
  await cluster.kill('redis', 'SIGKILL');
  await eventually(async () => (await worker.status('/ready')) === 503, {
    what: 'the worker not to be ready',
  });
  // Not 1: no step of its end missed its deadline.
  expect(await worker.stop()).toBe(0);
  await cluster.restart('redis');
  await reroll.ready();
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

// A command waits ten seconds for its answer.
test.each([5, 20])('Redis answers nothing for %d seconds in the middle of 200 changes', async (seconds) => {
  await fleet.inTheMiddle(async (changeTheRest) => {
    await cluster.kill('redis', 'SIGSTOP');
    await changeTheRest();
    await pause(seconds * 1_000);
    await cluster.kill('redis', 'SIGCONT');
  });

  await fleet.settled(reroll);
  expect(await fleet.anomalies()).toEqual([]);
});

test('Redis has no room for anything for five seconds in the middle of 200 changes', async () => {
  await fleet.inTheMiddle(async (changeTheRest) => {
    await reroll.redis.config('SET', 'maxmemory', '1mb');
    await expect(reroll.redis.set('more', 'x')).rejects.toThrow('OOM');
    await changeTheRest();
    await pause(5_000);
    await reroll.redis.config('SET', 'maxmemory', '0');
  });

  await fleet.settled(reroll);
  expect(await fleet.anomalies()).toEqual([]);
});
