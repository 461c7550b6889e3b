import { beforeAll, expect, it } from 'vitest';
import type { Cluster } from '../../tools/cluster/src/cluster.ts';
import { auto, configMap, deployment, usingEnvFrom } from '../support/objects/builders.ts';
import { sharedCluster, startOwnCluster } from '../support/cluster.ts';
import { connect, namespace, Space } from '../support/kube.ts';
import { prepareReroll, startReroll, type Reroll } from '../support/reroll.ts';
import { RolloutCount, inStep, settled } from '../support/objects/rollouts.ts';

/** Two control planes with one Redis, and the same names in both. */
let first: Cluster;
let second: Cluster;
let here: Space;
let there: Space;

beforeAll(async () => {
  first = sharedCluster();
  second = await startOwnCluster({ redis: false, controllerManager: false, scheduler: false, nodes: 0 });
  here = await namespace(connect(first));
  const client = connect(second);
  await client.post('/api/v1/namespaces', { metadata: { name: here.name } });
  there = new Space(client, here.name);
  for (const space of [here, there]) {
    await space.apply(configMap('cm', { v: '1' }), deployment('api', auto(), usingEnvFrom('cm')));
  }
});

/** An install of the same name in the second cluster. */
async function inSecond(install: string, flags: readonly string[] = []): Promise<Reroll> {
  await connect(second)
    .post('/api/v1/namespaces', { metadata: { name: install } })
    .catch(() => undefined);
  const redisUrl = first.redisUrl as string;
  return await prepareReroll({ cluster: second, namespaces: [there], install, redisUrl, flags });
}

it('two clusters on one Redis do not meet, nor do two installs in one cluster: each rolls its own, once', async () => {
  const one = await startReroll({ cluster: first, namespaces: [here] });
  const two = await inSecond(one.install);
  two.start('watcher');
  two.start('worker');
  await two.ready();
  const three = await startReroll({ cluster: first, namespaces: [here] });
  for (const space of [here, there]) await inStep(space, 'Deployment/api', ['ConfigMap/cm']);
  const own = await RolloutCount.from(here, 'Deployment/api');
  const other = await RolloutCount.from(there, 'Deployment/api');
  await here.setData('ConfigMap/cm', { v: '2' });
  await inStep(here, 'Deployment/api', ['ConfigMap/cm']);
  for (const each of [one, three]) await settled(each, here);
  await settled(two, there);
  expect([await own.now(), await other.now()]).toEqual([1, 0]);
  expect(new Set([one, two, three].map(({ catalog }) => catalog.keys.prefix)).size).toBe(3);
});

it('under one --cluster-name watcher and worker of the second cluster end with code 2 and say why', async () => {
  const flags = ['--cluster-name=production'];
  const one = await startReroll({ cluster: first, namespaces: [here], flags });
  const two = await inSecond(one.install, flags);
  for (const app of [two.start('watcher'), two.start('worker')]) {
    expect(await app.exited).toBe(2);
    expect(app.logs()).toMatch(
      /this Redis holds \{reroll:production:[^}]+\} of another cluster: expected kube-system uid \S+ found \S+ Give each cluster a --cluster-name of its own, or a Redis of its own/,
    );
  }
  for (const each of one.apps) expect(each.isRunning).toBe(true);
});
