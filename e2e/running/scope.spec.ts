import { setTimeout as pause } from 'node:timers/promises';
import type { ObjectMeta } from '@reroll/core/model';
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

it.each([
  ['another namespace', []],
  ['--auto-reload-all', ['--auto-reload-all=true']],
])('a scope that gets larger by %s restarts nothing, and reloads at the next change', async (_by, flags) => {
  const cluster = sharedCluster();
  const client = connect(cluster);
  const [here, there] = [await namespace(client), await namespace(client)];
  await shop(here);
  const isInScope = flags.length > 0;
  const narrow = await startReroll({ cluster, namespaces: isInScope ? [here, there] : [here] });
  await inStep(here, 'Deployment/api', SOURCES);
  await there.apply(
    configMap('cm', { v: '1' }),
    secret('keys', { v: '1' }),
    deployment('api', ...(isInScope ? [] : [auto()]), usingEnvFrom('cm'), usingVolume('Secret/keys')),
  );
  // Later than the workload, and the times of writes have a precision of a second.
  await pause(1_100);
  for (const source of SOURCES) await there.setData(source, { v: '2' });
  await watchedUntil(narrow.install, there, Date.now() + 1_000);
  await narrow.stop();
  const rollouts = await rolloutsOf(there);
  const wide = await startReroll({
    cluster,
    namespaces: [here, there],
    install: narrow.install,
    flags,
  });
  await inStep(there, 'Deployment/api', SOURCES);
  await settled(wide, there);
  expect(await rollouts.now()).toBe(0);
  await there.setData('ConfigMap/cm', { v: '3' });
  await inStep(there, 'Deployment/api', ['ConfigMap/cm']);
  expect(await rollouts.now()).toBe(1);
});

/** Resolves when the leader says that it has watched everything until then, in Unix milliseconds. */
async function watchedUntil(install: string, { client }: Space, time: number): Promise<void> {
  const path = `/apis/coordination.k8s.io/v1/namespaces/${install}/leases`;
  await eventually(
    async () => {
      const { body } = await client.get<{ items: { metadata: ObjectMeta }[] }>(path);
      const until = body.items.map(
        ({ metadata }) => metadata.annotations?.['reroll.dev/watched-until'] ?? '',
      );
      return until.some((text) => Date.parse(text) >= time);
    },
    { what: 'the leader to have watched until then', within: 30_000 },
  );
}

async function rolloutsOf(space: Space): Promise<RolloutCount> {
  return await RolloutCount.from(space, 'Deployment/api');
}
