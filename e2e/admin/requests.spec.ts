import { beforeAll, expect, it } from 'vitest';
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
import { startReroll, type Reroll } from '../support/reroll.ts';
import { inStep } from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';

/** What costs the API server something, counted in its own audit log. */
let space: Space;
let reroll: Reroll;

beforeAll(async () => {
  const cluster = sharedCluster();
  space = await namespace(connect(cluster));
  await space.apply(
    configMap('cm', { v: '1' }),
    secret('keys', { v: '1' }),
    deployment('api', auto(), usingEnvFrom('cm')),
    deployment('db', auto(), usingVolume('Secret/keys')),
    deployment('both', auto(), usingEnvFrom('cm'), usingVolume('Secret/keys')),
    deployment('bystander', auto(), usingEnvFrom('other')),
    deployment('silent', usingEnvFrom('cm')),
  );
  reroll = await startReroll({ cluster, namespaces: [space], watchers: 2 });
  await inStep(space, 'Deployment/api', ['ConfigMap/cm']);
  await inStep(space, 'Deployment/db', ['Secret/keys']);
  await inStep(space, 'Deployment/both', ['ConfigMap/cm', 'Secret/keys']);
  await reroll.idle();
});

/** What Reroll asked for in the namespace of the test; the Lease is elsewhere. */
function requests(audit: AuditLog): string[] {
  const ours = audit.of('reroll-').filter(({ objectRef }) => objectRef?.namespace === space.name);
  return ours.map(requestName).sort();
}

async function eventsPosted(audit: AuditLog, count: number): Promise<void> {
  await eventually(() => requests(audit).filter((name) => name === 'CREATE events').length >= count);
  await reroll.idle();
}

it('one change that rolls one workload takes three requests and an Event, and no LIST, for a Secret', async () => {
  await space.delete('Deployment/both');
  await reroll.idle();
  const audit = new AuditLog(sharedCluster());
  await space.setData('Secret/keys', { v: '2' });
  await inStep(space, 'Deployment/db', ['Secret/keys']);
  await eventsPosted(audit, 1);
  expect(requests(audit)).toEqual(['CREATE events', 'GET deployments', 'GET secrets', 'PATCH deployments']);
});

it('one change that rolls many reads the source once, and each workload once', async () => {
  const names = Array.from({ length: 10 }, (_, index) => `many-${index}`);
  await space.apply(configMap('many', { v: '1' }));
  await space.applyAll(names.map((name) => deployment(name, auto(), usingEnvFrom('many'))));
  for (const name of names) await inStep(space, `Deployment/${name}`, ['ConfigMap/many']);
  await reroll.idle();
  const audit = new AuditLog(sharedCluster());
  await space.setData('ConfigMap/many', { v: '2' });
  for (const name of names) await inStep(space, `Deployment/${name}`, ['ConfigMap/many']);
  await eventsPosted(audit, names.length);
  const counts = new Map<string, number>();
  for (const name of requests(audit)) counts.set(name, (counts.get(name) ?? 0) + 1);
  expect(Object.fromEntries(counts)).toEqual({
    'CREATE events': names.length,
    'GET configmaps': 1,
    'GET deployments': names.length,
    'PATCH deployments': names.length,
  });
});

it('a write of metadata, or of a workload that has nothing to do with it, takes none', async () => {
  const audit = new AuditLog(sharedCluster());
  await space.patch('ConfigMap/cm', { metadata: { labels: { a: 'b' } } });
  await space.patch('Deployment/bystander', { spec: { template: { metadata: { labels: { a: 'b' } } } } });
  await space.annotate('Deployment/api', { 'a-note': 'of somebody' });
  // What comes last in every stream has been dealt with, so has what came before.
  await space.apply(configMap('last', { v: '1' }), deployment('last', auto(), usingEnvFrom('last')));
  await inStep(space, 'Deployment/last', ['ConfigMap/last']);
  await reroll.idle();
  const others = audit
    .of('reroll-')
    .filter(({ objectRef }) => objectRef?.namespace === space.name && objectRef.name !== 'last');
  expect(others.map(requestName)).toEqual([]);
});
