import { beforeAll, describe, expect, it } from 'vitest';
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

it('two clusters on one Redis do not meet: each rolls its own, and only that', async () => {
  const one = await startReroll({ cluster: first, namespaces: [here] });
  const two = await inSecond(one.install);
  two.start('watcher');
  two.start('worker');
  await two.ready();
  for (const space of [here, there]) await inStep(space, 'Deployment/api', ['ConfigMap/cm']);
  const [own, other] = [
    await RolloutCount.from(here, 'Deployment/api'),
    await RolloutCount.from(there, 'Deployment/api'),
  ];
  await here.setData('ConfigMap/cm', { v: '2' });
  await inStep(here, 'Deployment/api', ['ConfigMap/cm']);
  await settled(one, here);
  await settled(two, there);
  expect(await own.now()).toBe(1);
  expect(await other.now()).toBe(0);
  expect(one.catalog.keys.prefix).not.toBe(two.catalog.keys.prefix);
});

describe('under one --cluster-name', () => {
  it.each(['watcher', 'worker'] as const)(
    'a %s of the second cluster ends with code 2 and says why',
    async (kind) => {
      const flags = ['--cluster-name=production'];
      const one = await startReroll({ cluster: first, namespaces: [here], flags });
      const two = await inSecond(one.install, flags);
      const app = two.start(kind);
      expect(await app.exited).toBe(2);
      expect(app.logs()).toMatch(
        /this Redis holds \{reroll:production:[^}]+\} of another cluster: expected kube-system uid \S+ found \S+ Give each cluster a --cluster-name of its own, or a Redis of its own/,
      );
      for (const each of one.apps) expect(each.isRunning).toBe(true);
    },
  );
});

it('a second install in the same cluster has keys of its own', async () => {
  const one = await startReroll({ cluster: first, namespaces: [here] });
  const two = await startReroll({ cluster: first, namespaces: [here] });
  expect(one.catalog.keys.prefix).not.toBe(two.catalog.keys.prefix);
  const rollouts = await RolloutCount.from(here, 'Deployment/api');
  await here.setData('ConfigMap/cm', { v: '3' });
  await inStep(here, 'Deployment/api', ['ConfigMap/cm']);
  await settled(one, here);
  await settled(two, here);
  expect(await rollouts.now()).toBe(1);
});
