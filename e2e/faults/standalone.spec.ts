import { expect, test } from 'vitest';
import type { Cluster } from '../../tools/cluster/src/cluster.ts';
import { freePort } from '../../tools/cluster/src/servers/ports.ts';
import { AdminApi } from '../support/admin/admin-api.ts';
import { connect, namespace, type Space } from '../support/kube.ts';
import type { App } from '../support/processes.ts';
import { startStandalone, type Standalone } from '../support/standalone.ts';
import { eventually } from '../support/wait.ts';
import { mendedCluster } from './support/cluster.ts';
import { Fleet, resyncsOf } from './support/fleet.ts';
import { QUICK_LEASE, QUICK_RESYNC } from './support/settings.ts';

interface Install {
  readonly fleet: Fleet;
  start(name: string): Promise<Standalone>;
}

async function prepare(): Promise<Install> {
  const cluster: Cluster = await mendedCluster();
  const space: Space = await namespace(connect(cluster));
  const install = (await namespace(connect(cluster))).name;
  const flags = [`--sweep-interval=${QUICK_RESYNC}`, ...QUICK_LEASE];
  return {
    fleet: await Fleet.create(space),
    start: async (name) => {
      const api = [`--api-addr=127.0.0.1:${await freePort()}`, '--pod-ip=127.0.0.1'];
      const standalone = await startStandalone({ cluster, name, install, space, flags: [...flags, ...api] });
      await standalone.app.ready(60_000);
      return standalone;
    },
  };
}

/** Everything is in step, and two resyncs later still. */
async function settled(fleet: Fleet, leader: App): Promise<void> {
  await fleet.inStep();
  await resyncsOf(leader, 2);
  await fleet.inStep();
}

/** Whose API answers at that process: the one whose Redis has its heartbeat. */
async function answersAt({ app }: Standalone): Promise<string[]> {
  const { processes } = await new AdminApi(app).call('getStatus');
  return [...new Set(processes.map(({ name }) => name))];
}

function leads({ app }: Standalone): boolean {
  return app.logs().includes('became leader');
}

test('the Redis of a standalone process is killed in the middle of 200 changes', async ({ annotate }) => {
  const { fleet, start } = await prepare();
  const { app, redisPid } = await start('standalone');
  await fleet.adopted();
  let killedAt = 0;

  await fleet.inTheMiddle(async (changeTheRest) => {
    const pid = redisPid();
    if (pid === undefined) throw new Error('expected a Redis');
    process.kill(pid, 'SIGKILL');
    killedAt = performance.now();
    await changeTheRest();
  });
  await fleet.inStep();
  await annotate(`all rolled ${Math.round(performance.now() - killedAt)} ms after Redis was killed`);

  await settled(fleet, app);
  expect(await fleet.anomalies()).toEqual([]);
  expect(await app.metrics()).toMatch(/^reroll_redis_server_restarts_total 1$/mu);
  expect(await app.stop()).toBe(0);
});

test('a standalone process is killed in the middle of 200 changes: the other one, with a Redis of its own, goes on', async ({
  annotate,
}) => {
  const { fleet, start } = await prepare();
  const first = await start('standalone-1');
  await eventually(() => leads(first), { what: 'a leader' });
  const second = await start('standalone-2');
  await fleet.adopted();
  for (const each of [first, second]) expect(await answersAt(each)).toEqual(['standalone-1']);
  let killedAt = 0;

  await fleet.inTheMiddle(async (changeTheRest) => {
    await first.kill();
    killedAt = performance.now();
    await changeTheRest();
  });
  await fleet.inStep();
  await annotate(`all rolled ${Math.round(performance.now() - killedAt)} ms after the leader was killed`);

  expect(leads(second)).toBe(true);
  expect(await answersAt(second)).toEqual(['standalone-2']);
  await settled(fleet, second.app);
  expect(await fleet.anomalies()).toEqual([]);
});
