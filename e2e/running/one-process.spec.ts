import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { AdminApi, tokensFile } from '../support/admin/admin-api.ts';
import { cleanUp } from '../support/cleanup.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type Space } from '../support/kube.ts';
import { auto, configMap, deployment, usingEnvFrom } from '../support/objects/builders.ts';
import { inStep, RolloutCount } from '../support/objects/rollouts.ts';
import { App } from '../support/processes.ts';
import { prepareReroll, type Reroll } from '../support/reroll.ts';
import { eventually } from '../support/wait.ts';

const MAIN = join(import.meta.dirname, '../support/one-process.ts');

let space: Space;
let reroll: Reroll;
let app: App;

beforeAll(async () => {
  const cluster = sharedCluster();
  space = await namespace(connect(cluster));
  reroll = await prepareReroll({ cluster, namespaces: [space] });
  app = new App({
    name: 'one-process',
    args: [MAIN],
    env: {
      KUBECONFIG: cluster.kubeconfig,
      ...reroll.redisEnv,
      POD_NAME: 'one-process',
      POD_NAMESPACE: reroll.install,
      KUBERNETES_NAMESPACE: space.name,
      REROLL_METRICS_ADDR: '127.0.0.1:0',
      REROLL_API_ADDR: '127.0.0.1:0',
      REROLL_AUTH: 'static',
      REROLL_STATIC_TOKENS_FILE: tokensFile(),
      REROLL_DEBOUNCE: '0',
      REROLL_IS_OPENSHIFT: 'false',
      REROLL_ADOPTIONS_PER_SECOND: '1000',
    },
  });
  cleanUp(() => app.discard());
  // It is no bundle: Node.js loads every module of the three apps on its own.
  await eventually(() => app.logs().includes('serving metrics'), { what: 'it to listen', within: 120_000 });
  await app.ready(60_000);
});

it('one process that has all roles reloads a workload, answers and ends', async () => {
  await space.apply(configMap('app', { v: 'A' }), deployment('app', auto(), usingEnvFrom('app')));
  await inStep(space, 'Deployment/app', ['ConfigMap/app']);
  const rollouts = await RolloutCount.from(space, 'Deployment/app');
  await space.setData('ConfigMap/app', { v: 'B' });
  await eventually(async () => (await rollouts.now()) === 1, { what: 'a rollout' });
  const { processes } = await new AdminApi(app).call('getStatus');
  expect(processes.map((each) => each.app).sort()).toEqual(['admin', 'watcher', 'worker']);
  expect(app.logs().match(/serving metrics and health/gu)).toHaveLength(1);
  expect(await app.metrics()).toMatch(/^reroll_leader 1$/mu);
  expect(await app.stop()).toBe(0);
  expect(app.logs()).not.toContain('missed its deadline');
});
