import { readdirSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import { AdminApi } from '../support/admin/admin-api.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type Space } from '../support/kube.ts';
import { auto, configMap, deployment, usingEnvFrom } from '../support/objects/builders.ts';
import { inStep, RolloutCount } from '../support/objects/rollouts.ts';
import type { App } from '../support/processes.ts';
import { startStandalone, type Standalone } from '../support/standalone.ts';
import { eventually } from '../support/wait.ts';

let space: Space;
let standalone: Standalone;

beforeAll(async () => {
  const cluster = sharedCluster();
  space = await namespace(connect(cluster));
  const install = (await namespace(connect(cluster))).name;
  const flags = ['--debounce=5s'];
  standalone = await startStandalone({ cluster, name: 'standalone', install, space, flags });
  await standalone.app.ready(60_000);
});

async function changesEnqueued(app: App): Promise<number> {
  const adds = (await app.metrics()).match(/^reloader_workqueue_adds_total (\d+)$/mu);
  return Number(adds?.[1] ?? 0);
}

it('a standalone process loses its Redis with a job that waits there, and reloads long before the next resync', async () => {
  const { app, redisPid } = standalone;
  await space.apply(configMap('waits', { v: 'A' }), deployment('waits', auto(), usingEnvFrom('waits')));
  await inStep(space, 'Deployment/waits', ['ConfigMap/waits']);
  const adds = await changesEnqueued(app);
  await space.setData('ConfigMap/waits', { v: 'B' });
  await eventually(async () => (await changesEnqueued(app)) > adds, { what: 'a change job' });
  process.kill(redisPid() ?? 0, 'SIGKILL');
  await inStep(space, 'Deployment/waits', ['ConfigMap/waits']);
});

it('a standalone process with nothing but a kubeconfig reloads a workload, answers and ends with its Redis', async () => {
  const { app, folder, redisPid } = standalone;
  await space.apply(configMap('app', { v: 'A' }), deployment('app', auto(), usingEnvFrom('app')));
  await inStep(space, 'Deployment/app', ['ConfigMap/app']);
  const rollouts = await RolloutCount.from(space, 'Deployment/app');
  await space.setData('ConfigMap/app', { v: 'B' });
  await eventually(async () => (await rollouts.now()) === 1, { what: 'a rollout' });
  // Heartbeats are in Redis, and come every few seconds.
  await eventually(async () => {
    const { processes } = await new AdminApi(app).call('getStatus');
    expect(processes.map((each) => each.app).sort()).toEqual(['admin', 'watcher', 'worker']);
    return true;
  });
  expect(app.logs().match(/serving metrics and health/gu)).toHaveLength(1);
  expect(await app.metrics()).toMatch(/^reroll_leader 1$/mu);
  expect(redisPid()).toBeGreaterThan(0);
  expect(await app.stop()).toBe(0);
  expect(app.logs()).not.toContain('missed its deadline');
  expect(app.logs()).not.toContain('keeps the process alive');
  expect(redisPid()).toBeUndefined();
  expect(readdirSync(folder)).toEqual([]);
});

it('a standalone process with --dry-run, as it is tried on a cluster, says what it would reload and writes to no workload', async () => {
  const cluster = sharedCluster();
  const tried = await namespace(connect(cluster));
  const install = (await namespace(connect(cluster))).name;
  await tried.apply(configMap('app', { v: 'A' }), deployment('app', auto(), usingEnvFrom('app')));
  const before = await tried.get('Deployment/app');
  const { app } = await startStandalone({
    cluster,
    name: 'tried',
    install,
    space: tried,
    flags: ['--dry-run'],
  });
  await app.ready(60_000);
  const params = { kind: 'Deployment', namespace: tried.name, name: 'app' } as const;
  const reasons = async (): Promise<readonly string[]> => {
    const { history } = await new AdminApi(app).call('getWorkload', { params });
    return history.map(({ reason }) => reason);
  };
  // Once the workload was looked at: what is changed before that is no change to it.
  await eventually(async () => (await reasons()).length > 0, { what: 'a first outcome' });
  await tried.setData('ConfigMap/app', { v: 'B' });
  await eventually(async () => (await reasons()).includes('WouldReload'), { what: 'WouldReload' });
  expect(app.logs()).toContain('dry run: would reload');
  expect(await app.stop()).toBe(0);
  const after = await tried.get('Deployment/app');
  expect(Object.keys(after.metadata.annotations ?? {})).not.toContain('reroll.dev/applied');
  expect(after.spec).toEqual(before.spec);
});
