import { expect, it } from 'vitest';
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
import { eventually } from '../support/wait.ts';

const SOURCES = ['ConfigMap/cm', 'Secret/keys'] as const;

async function shop(space: Space): Promise<void> {
  await space.apply(
    configMap('cm', { v: '1' }),
    secret('keys', { v: '1' }),
    deployment('api', auto(), usingEnvFrom('cm'), usingVolume('Secret/keys')),
  );
}

it('--namespaces leaves every other namespace alone, and --resources-to-ignore a kind, but not creations and deletions of others; made larger again it reloads what it missed', async () => {
  const cluster = sharedCluster();
  const client = connect(cluster);
  const [here, there] = [await namespace(client), await namespace(client)];
  await shop(here);
  await shop(there);
  const wide = await startReroll({ cluster, namespaces: [here, there] });
  for (const space of [here, there]) await inStep(space, 'Deployment/api', SOURCES);
  await wide.stop();
  const { install } = wide;
  const record = recordOf(await there.get('Deployment/api'));
  const audit = new AuditLog(cluster);
  const narrow = await startReroll({
    cluster,
    namespaces: 'all',
    install,
    // What --namespaces is; the flags beside it are not heeded, but for the last one.
    env: { KUBERNETES_NAMESPACE: here.name },
    flags: [
      '--namespace-selector=nobody=has-it',
      `--namespaces-to-ignore=${here.name}`,
      '--resources-to-ignore=secrets',
      '--reload-on-create=true',
      '--reload-on-delete=true',
    ],
  });
  const [own, rollouts] = [await rolloutsOf(here), await rolloutsOf(there)];
  await here.setData('Secret/keys', { v: '2' });
  for (const space of [there, here]) await space.setData('ConfigMap/cm', { v: '2' });
  await inStep(here, 'Deployment/api', ['ConfigMap/cm']);
  await narrow.idle();
  expect([await own.now(), await rollouts.now()]).toEqual([1, 0]);
  await here.delete('ConfigMap/cm');
  await eventually(async () => (await own.now()) === 2, { what: 'the reload for the deletion' });
  await here.apply(configMap('cm', { v: '3' }));
  await eventually(async () => (await own.now()) === 3, { what: 'the reload for the creation' });
  await narrow.idle();
  expect(recordOf(await there.get('Deployment/api'))).toEqual(record);
  // A stream is in the log once it has ended.
  await narrow.stop();
  const requests = audit.of('reroll-').filter(({ objectRef }) => objectRef?.resource !== 'leases');
  const outside = requests.filter(({ objectRef }) => objectRef?.namespace !== here.name);
  // Who they are and the server's version, which is no object, and nothing else.
  expect(new Set(outside.map(requestName))).toEqual(new Set(['GET namespaces', 'GET ?']));
  const resources = new Set(requests.map(({ objectRef }) => objectRef?.resource));
  expect(resources).toContain('configmaps');
  expect(resources).not.toContain('secrets');
  const all = await startReroll({ cluster, namespaces: 'all', install });
  await inStep(there, 'Deployment/api', SOURCES);
  await settled(all, there);
  expect(await rollouts.now()).toBe(1);
});

async function rolloutsOf(space: Space): Promise<RolloutCount> {
  return await RolloutCount.from(space, 'Deployment/api');
}
