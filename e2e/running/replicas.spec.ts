import { beforeAll, describe, expect, it } from 'vitest';
import { Catalog } from '@reroll/redis/catalog/catalog';
import { catalogKeys } from '@reroll/redis/catalog/keys';
import { AuditLog, requestName } from '../support/audit.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type Space } from '../support/kube.ts';
import {
  auto,
  configMap,
  deployment,
  secret,
  usingEnvFrom,
  usingVolume,
} from '../support/objects/builders.ts';
import { hashOf, inStep, recordOf, RolloutCount, settled } from '../support/objects/rollouts.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import { eventually } from '../support/wait.ts';

/** The default timings of the election, 15 s, 10 s and 2 s: only an orderly end can be as fast as this. */
const TAKEOVER_MS = 3_000;
const META_INFO = 'ConfigMap/reloader-meta-info';

let space: Space;
let reroll: Reroll;

/** Two watchers and two workers, as the chart installs them. */
beforeAll(async () => {
  const cluster = sharedCluster();
  space = await namespace(connect(cluster));
  await space.apply(
    configMap('cm', { v: '1' }),
    secret('keys', { v: '1' }),
    deployment('api', auto(), usingEnvFrom('cm')),
    deployment('db', auto(), usingVolume('Secret/keys')),
    deployment('bystander', auto(), usingEnvFrom('other')),
    deployment('silent', usingEnvFrom('cm')),
  );
  reroll = await startReroll({
    cluster,
    namespaces: [space],
    watchers: 2,
    workers: 2,
    env: { RELOADER_NAMESPACE: space.name, RELOADER_DEPLOYMENT_NAME: 'reroll' },
  });
  await inStep(space, 'Deployment/api', ['ConfigMap/cm']);
  await inStep(space, 'Deployment/db', ['Secret/keys']);
  await eventually(() => space.find(META_INFO), { what: 'the meta info' });
  await reroll.idle();
});

/**
 * What Reroll asked for in the namespace of the test, and how often; the Lease is elsewhere. Without watches: whatever changes, each of
 * them ends after some minutes and is opened again.
 */
function requests(audit: AuditLog): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const entry of audit.of('reroll-')) {
    if (entry.verb === 'watch') continue;
    // Reads of Namespaces go by the clock (`namespace-reader.spec.ts`).
    if (entry.objectRef?.resource === 'namespaces') continue;
    if (entry.objectRef?.namespace !== space.name || entry.objectRef.name === 'last') continue;
    const name = requestName(entry);
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

async function eventsPosted(audit: AuditLog, count: number): Promise<void> {
  await eventually(() => (requests(audit)['CREATE events'] ?? 0) >= count);
  await reroll.idle();
}

describe('what a change costs the API server', () => {
  it('that reloads one workload: one request and an Event, and no LIST, for a Secret', async () => {
    const audit = new AuditLog(sharedCluster());
    await space.setData('Secret/keys', { v: '2' });
    await inStep(space, 'Deployment/db', ['Secret/keys']);
    await eventsPosted(audit, 1);
    expect(requests(audit)).toEqual({ 'CREATE events': 1, 'PATCH deployments': 1 });
  });

  it('that reloads 100: each of them is patched once, and nothing is read', async () => {
    const names = Array.from({ length: 100 }, (_, index) => `user-${index}`);
    const refs = names.map((name) => `Deployment/${name}`);
    const allInStep = async (): Promise<void> => {
      const hash = hashOf(await space.get('ConfigMap/shared'));
      await eventually(async () => {
        const now = await space.list('Deployment');
        const users = now.filter(({ metadata }) => metadata.name.startsWith('user-'));
        return (
          users.length === names.length && users.every((user) => recordOf(user)['ConfigMap/shared'] === hash)
        );
      });
    };
    await space.apply(configMap('shared', { v: '1' }));
    await space.applyAll(names.map((name) => deployment(name, auto(), usingEnvFrom('shared'))));
    await allInStep();
    const counts = await Promise.all(refs.map((ref) => RolloutCount.from(space, ref)));
    await reroll.idle();
    const audit = new AuditLog(sharedCluster());
    await space.setData('ConfigMap/shared', { v: '2' });
    await allInStep();
    await eventsPosted(audit, names.length);
    expect(requests(audit)).toEqual({
      'CREATE events': names.length,
      'PATCH deployments': names.length,
    });
    await settled(reroll, space);
    expect(new Set(await Promise.all(counts.map((count) => count.now())))).toEqual(new Set([1]));
    const [change] = await reroll.changes(space, 'ConfigMap/shared');
    expect((change?.woken.length ?? 0) + (change?.more?.woken ?? 0)).toBe(names.length);
  });

  it('of metadata, or of a workload that has nothing to do with it: none', async () => {
    const audit = new AuditLog(sharedCluster());
    await space.patch('ConfigMap/cm', { metadata: { labels: { a: 'b' } } });
    await space.patch('Deployment/bystander', { spec: { template: { metadata: { labels: { a: 'b' } } } } });
    await space.annotate('Deployment/api', { 'a-note': 'of somebody' });
    // What comes last in every stream has been dealt with, so has what came before.
    await space.apply(configMap('last', { v: '1' }), deployment('last', auto(), usingEnvFrom('last')));
    await inStep(space, 'Deployment/last', ['ConfigMap/last']);
    await reroll.idle();
    expect(requests(audit)).toEqual({});
  });
});

it('a standby is ready, answers health and metrics, and enqueues nothing; the log has the words of stakater/Reloader', async () => {
  const [leader, standby] = [await reroll.leader(), await reroll.standby()];
  for (const app of [leader, standby]) {
    for (const path of ['/ready', '/live', '/healthz', '/metrics']) {
      expect(await app.status(path), `${app.name} ${path}`).toBe(200);
    }
  }
  const adds = async (app: typeof leader): Promise<number> =>
    Number(/^reloader_workqueue_adds_total (\d+)$/m.exec(await app.metrics())?.[1]);
  expect(await adds(leader)).toBeGreaterThan(0);
  expect(await adds(standby)).toBe(0);
  // It follows along all the same, and leaves the counting of events to the leader.
  const seen = /^reloader_events_received_total\{[^}]*resource_type="configmaps"[^}]*\} [1-9]/m;
  expect(await leader.metrics()).toMatch(seen);
  expect(await standby.metrics()).not.toMatch(seen);
  expect(await standby.metrics()).toMatch(/^reroll_synced 1$/m);
  const words = [
    `Watching scoped namespaces: ${space.name}`,
    'became leader, starting controllers',
    'still the leader!',
    ...['configmaps', 'secrets'].map(
      (type) => `Starting Controller to watch resource type: ${type} in namespace: ${space.name}`,
    ),
  ];
  for (const said of words) expect(leader.logs()).toContain(`level=info msg="${said}"`);
  await eventually(() => /level=info msg="new leader is [^"]+"/u.test(standby.logs()));
});

it('a standby takes over within three seconds of SIGTERM to the leader, and a change made right after is one rollout', async () => {
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

it('the meta info of stakater/Reloader is brought up to date by the next watcher, or it says that it cannot', async () => {
  const written = await space.get(META_INFO);
  expect(written.metadata.labels).toEqual({ 'reloader.stakater.com/meta-info': 'reloader' });
  expect(Object.keys(written.data ?? {}).sort()).toEqual(['buildInfo', 'deploymentInfo', 'reloaderOptions']);
  await space.setData(META_INFO, { buildInfo: '{}' });
  await space.annotate(META_INFO, { owner: 'somebody' });
  const next = reroll.start('watcher');
  await eventually(() => next.logs().includes('Meta info configmap already exists, updating it'));
  await eventually(async () => (await space.get(META_INFO)).data?.['buildInfo']?.includes('"edition":"oss"'));
  expect((await space.get(META_INFO)).metadata.annotations).toMatchObject({ owner: 'somebody' });
  const other = reroll.start('watcher', ['--reloader-namespace=not-there']);
  await eventually(() => other.logs().includes('cannot write the meta info ConfigMap'));
  await other.ready();
});

it('under the --cluster-name of another cluster watcher and worker end with code 2 and say why', async () => {
  const keys = catalogKeys({ cluster: 'production', namespace: reroll.install });
  await new Catalog(reroll.redis, keys).claim('uid-of-another');
  for (const kind of ['watcher', 'worker'] as const) {
    const app = reroll.start(kind, ['--cluster-name=production']);
    expect(await app.exited).toBe(2);
    expect(app.logs()).toMatch(
      /this Redis holds \{reroll:production:[^}]+\} of another cluster: expected kube-system uid \S+ found \S+ Give each cluster a --cluster-name of its own, or a Redis of its own/,
    );
  }
});

it('a second install for the same namespace has a catalog and queues of its own, and a change is still one rollout', async () => {
  const second = await startReroll({ cluster: sharedCluster(), namespaces: [space] });
  await second.idle();
  const rollouts = await RolloutCount.from(space, 'Deployment/api');
  await space.setData('ConfigMap/cm', { v: '4' });
  await inStep(space, 'Deployment/api', ['ConfigMap/cm']);
  for (const each of [reroll, second]) await settled(each, space);
  expect(await rollouts.now()).toBe(1);
  expect(second.catalog.keys.prefix).not.toBe(reroll.catalog.keys.prefix);
});
