import { beforeEach, expect, it } from 'vitest';
import { AuditLog, requestName } from '../support/audit.ts';
import {
  auto,
  configMap,
  deployment,
  secret,
  usingEnvFrom,
  usingVolume,
} from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type Space } from '../support/kube.ts';
import { startReroll } from '../support/reroll.ts';
import { RolloutCount, inStep, recordOf, settled } from '../support/objects/rollouts.ts';

const SOURCES = ['ConfigMap/cm', 'Secret/keys'] as const;

let here: Space;
let there: Space;

beforeEach(async () => {
  const client = connect(sharedCluster());
  [here, there] = [await namespace(client), await namespace(client)];
});

async function shop(space: Space): Promise<void> {
  await space.apply(
    configMap('cm', { v: '1' }),
    secret('keys', { v: '1' }),
    deployment('api', auto(), usingEnvFrom('cm'), usingVolume('Secret/keys')),
  );
}

it('--namespaces leaves every other namespace alone; made smaller it forgets nothing, and made larger again rolls what it missed', async () => {
  await shop(here);
  await shop(there);
  const cluster = sharedCluster();
  const wide = await startReroll({ cluster, namespaces: [here, there] });
  for (const space of [here, there]) await inStep(space, 'Deployment/api', SOURCES);
  await wide.stop();
  const { install } = wide;
  const record = recordOf(await there.get('Deployment/api'));
  const audit = new AuditLog(cluster);
  const narrow = await startReroll({
    cluster,
    namespaces: [here],
    install,
    // Not heeded beside names.
    flags: ['--namespace-selector=nobody=has-it', `--namespaces-to-ignore=${here.name}`],
  });
  const rollouts = await RolloutCount.from(there, 'Deployment/api');
  for (const space of [there, here]) await space.setData('ConfigMap/cm', { v: '2' });
  await inStep(here, 'Deployment/api', SOURCES);
  await settled(narrow, here);
  expect(await rollouts.now()).toBe(0);
  expect(recordOf(await there.get('Deployment/api'))).toEqual(record);
  // A stream is in the log once it has ended.
  await narrow.stop();
  const outside = audit
    .of('reroll-')
    .filter(({ objectRef }) => objectRef?.namespace !== here.name && objectRef?.resource !== 'leases');
  // Who they are, and nothing else.
  expect(new Set(outside.map(requestName))).toEqual(new Set(['GET namespaces']));
  const all = await startReroll({ cluster, namespaces: 'all', install });
  await inStep(there, 'Deployment/api', SOURCES);
  await settled(all, there);
  expect(await rollouts.now()).toBe(1);
});

it('--resources-to-ignore=secrets: they are never asked for, and the same workload rolls for the others', async () => {
  await shop(here);
  const audit = new AuditLog(sharedCluster());
  const reroll = await startReroll({
    cluster: sharedCluster(),
    namespaces: 'all',
    env: { KUBERNETES_NAMESPACE: here.name },
    flags: ['--resources-to-ignore=secrets'],
  });
  await inStep(here, 'Deployment/api', ['ConfigMap/cm']);
  const rollouts = await RolloutCount.from(here, 'Deployment/api');
  await here.setData('Secret/keys', { v: '2' });
  await here.setData('ConfigMap/cm', { v: '2' });
  const now = await inStep(here, 'Deployment/api', ['ConfigMap/cm']);
  expect(await rollouts.now()).toBe(1);
  expect(Object.keys(recordOf(now))).toEqual(['ConfigMap/cm']);
  // A stream is in the log once it has ended.
  await reroll.stop();
  const asked = audit.of('reroll-').map(({ objectRef }) => objectRef);
  const resources = new Set(asked.map((object) => object?.resource));
  expect(resources).toContain('configmaps');
  expect(resources).not.toContain('secrets');
  // KUBERNETES_NAMESPACE is what --namespaces is.
  const namespaces = asked
    .filter((object) => object?.resource === 'configmaps')
    .map((object) => object?.namespace);
  expect(new Set(namespaces)).toEqual(new Set([here.name]));
});
