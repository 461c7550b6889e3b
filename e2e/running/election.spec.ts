import { beforeAll, expect, it } from 'vitest';
import { auto, configMap, deployment, usingEnvFrom } from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type Space } from '../support/kube.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import { RolloutCount, inStep, settled } from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';

/** The default timings of the election, 15 s, 10 s and 2 s: only an orderly end can be as fast as this. */
const TAKEOVER_MS = 3_000;

let space: Space;
let reroll: Reroll;

beforeAll(async () => {
  const cluster = sharedCluster();
  space = await namespace(connect(cluster));
  await space.apply(configMap('cm', { v: '1' }), deployment('api', auto(), usingEnvFrom('cm')));
  reroll = await startReroll({ cluster, namespaces: [space], watchers: 2 });
  await inStep(space, 'Deployment/api', ['ConfigMap/cm']);
});

it('a standby is ready, answers health and metrics, and enqueues nothing', async () => {
  const [leader, standby] = [await reroll.leader(), await reroll.standby()];
  for (const app of [leader, standby]) {
    for (const path of ['/ready', '/live', '/healthz', '/metrics']) {
      expect(await app.status(path), `${app.name} ${path}`).toBe(200);
    }
  }
  await space.setData('ConfigMap/cm', { v: '2' });
  await inStep(space, 'Deployment/api', ['ConfigMap/cm']);
  const adds = async (app: typeof leader): Promise<number> =>
    Number(/^reloader_workqueue_adds_total (\d+)$/m.exec(await app.metrics())?.[1]);
  expect(await adds(leader)).toBeGreaterThan(0);
  expect(await adds(standby)).toBe(0);
  // It follows along all the same, and leaves the counting of events to the leader.
  const seen = /^reloader_events_received_total\{[^}]*resource_type="configmaps"[^}]*\} [1-9]/m;
  expect(await leader.metrics()).toMatch(seen);
  expect(await standby.metrics()).not.toMatch(seen);
  expect(await standby.metrics()).toMatch(/^reroll_synced 1$/m);
});

it('takes over within three seconds of SIGTERM to the leader, and rolls a change made right after', async () => {
  const [leader, standby] = [await reroll.leader(), await reroll.standby()];
  const rollouts = await RolloutCount.from(space, 'Deployment/api');
  const began = performance.now();
  await leader.kill('SIGTERM');
  await space.setData('ConfigMap/cm', { v: '3' });
  await eventually(() => standby.logs().includes('became leader'), { within: TAKEOVER_MS });
  expect(performance.now() - began).toBeLessThan(TAKEOVER_MS);
  expect(await leader.exited).toBe(0);
  await inStep(space, 'Deployment/api', ['ConfigMap/cm']);
  await settled(reroll, space);
  expect(await rollouts.now()).toBe(1);
});
