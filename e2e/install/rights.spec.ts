import { beforeAll, describe, expect, it } from 'vitest';
import { installCrd, removeCrd } from '../support/objects/crds.ts';
import { cleanUp } from '../support/cleanup.ts';
import { connect, namespace, type Space } from '../support/kube.ts';
import { installDriver, removeDriver } from '../support/objects/provider-classes.ts';
import { eventually } from '../support/wait.ts';
import { askAdmin, tokenOf } from './support/admin.ts';
import { reloadEveryKind, reloadForProviderClass } from './support/exercise.ts';
import { Release, SMALL, installCluster, type Values } from './support/release.ts';
import { grantedTo, refused, requestsOf, unneeded } from './support/rights.ts';

/**
 * Least privilege, both ways: whatever the chart's roles grant is needed (each right is used by a request), and
 * whatever is needed is granted (no request is refused). So a verb too many fails, and so does one too few.
 */
const EVERY_KIND: Values = {
  reloader: {
    isArgoRollouts: true,
    isOpenshift: 'auto',
    enableCSIIntegration: true,
    reloadOnDelete: true,
    discoveryInterval: '1s',
  },
};

const cluster = installCluster();
const CRDS = ['Rollout', 'DeploymentConfig'];

beforeAll(async () => {
  const space = await namespace(connect(cluster));
  for (const kind of CRDS) await installCrd(space.client, kind);
  await installDriver(space);
  cleanUp(async () => {
    for (const kind of CRDS) await removeCrd(space.client, kind);
    await removeDriver(space);
  });
});

/** What the watchers make is made again when somebody takes it away. */
async function takeAway(release: Release): Promise<void> {
  const { space } = release;
  await space.delete('Lease/reroll-watcher');
  await eventually(() => space.find('Lease/reroll-watcher'), { what: 'another Lease', within: 60_000 });
  await space.delete('ConfigMap/reloader-meta-info');
  const [watcher] = await release.ready('watcher', 1);
  await space.delete(`Pod/${watcher?.metadata.name}`);
  await eventually(() => space.find('ConfigMap/reloader-meta-info'), { what: 'meta-info', within: 60_000 });
  await release.ready('watcher', 1);
}

/** They are known by the name of the cluster where this may not be read. */
const identified = ['watcher', 'worker'].map(
  (name) => `reroll-${name} get namespaces kube-system in kube-system`,
);

/** A right for what these specs do not bring about: the Event that says that Redis is full (e2e/running/redis-full.spec.ts). */
const tellsOfRedis = (namespace: string) => `reroll-watcher create events in ${namespace}`;

/** Rights for a Secret that lacks a key (e2e/deploy/make-secrets.spec.ts). */
const addsKeys = (namespace: string) =>
  ['reroll-hash-keys', 'reroll-redis'].map(
    (name) => `reroll-make-secrets patch secrets ${name} in ${namespace}`,
  );

/** All that no install here comes to use. */
const unused = ({ space: { name } }: Release) => [...addsKeys(name), tellsOfRedis(name)];

interface Exceptions {
  /** Requests that are refused, by design. */
  readonly refused?: readonly string[];
  /** Rights that these specs do not come to use. */
  readonly unneeded?: readonly string[];
  /** Rights that these specs come to use now and then. */
  readonly rarelyNeeded?: readonly string[];
}

async function agrees(release: Release, except: Exceptions = {}): Promise<void> {
  const { client, space } = release;
  const granted = await grantedTo(client, space.name);
  await eventually(
    () => {
      const found = unneeded(granted, requestsOf(cluster, space.name)).filter(
        (right) => except.rarelyNeeded?.includes(right) !== true,
      );
      expect([...found].sort(), 'rights that nothing needs').toEqual(except.unneeded ?? []);
      return true;
    },
    { within: 20_000 },
  );
  await eventually(() => {
    const found = refused(requestsOf(cluster, space.name));
    expect(found, 'requests that were refused').toEqual(except.refused ?? []);
    return true;
  });
}

describe('an install for the whole cluster, with every kind', () => {
  const labels = { reload: 'yes' };
  let release: Release;
  let apps: Space;

  beforeAll(async () => {
    apps = await namespace(connect(cluster), 'apps');
    await apps.client.patch(`/api/v1/namespaces/${apps.name}`, [
      { op: 'add', path: '/metadata/labels/team', value: 'a' },
    ]);
    const scope = { reloader: { resourceLabelSelector: 'reload=yes', namespaceSelector: 'team=a' } };
    release = await Release.install('rights', SMALL, EVERY_KIND, scope);
  });

  it('has rights for all that it does, and for nothing more', async () => {
    await reloadEveryKind(apps, labels);
    await reloadForProviderClass(apps, labels);
    // It looks whether these were deleted, or only lost the label.
    for (const ref of ['ConfigMap/map', 'Secret/secret'])
      await apps.patch(ref, { metadata: { labels: { reload: null } } });
    await takeAway(release);
    const token = await tokenOf(release.client, apps.name, [`${release.space.name}-reroll-viewer`]);
    // The way to the pod can be cut off on a busy machine: it is a process in the pod's network namespace.
    await eventually(async () => (await askAdmin(release, '/api/v1/queues', { token })).status === 200);
    await agrees(release, { unneeded: unused(release) });
  });

  it('without one of them, what needs it is refused', async () => {
    const path = `/apis/rbac.authorization.k8s.io/v1/clusterroles/${release.space.name}-reroll-worker`;
    const role = (await release.client.get<{ rules: { resources: string[]; verbs: string[] }[] }>(path)).body;
    const rules = role.rules.map((rule) =>
      rule.resources.includes('deployments')
        ? { ...rule, verbs: rule.verbs.filter((verb) => verb !== 'patch') }
        : rule,
    );
    await release.client.put(path, { ...role, rules });
    await apps.patch('ConfigMap/map', { metadata: { labels } });
    await apps.setData('ConfigMap/map', { v: '3' });
    await eventually(
      () =>
        expect(refused(requestsOf(cluster, release.space.name))).toContain(
          `reroll-worker patch deployments.apps deployment in ${apps.name}`,
        ) ?? true,
      { within: 60_000 },
    );
  });
});

describe('an install for some namespaces', () => {
  it('has Roles only, with rights for all that it does in each of them, and for nothing more', async () => {
    const apps = await namespace(connect(cluster), 'apps');
    const scope = { reloader: { watchGlobally: false, namespaces: [apps.name], reloadOnDelete: false } };
    const release = await Release.install('scoped', SMALL, EVERY_KIND, scope);
    const granted = await grantedTo(release.client, release.space.name);
    expect([...new Set(granted.map((right) => right.namespace))].sort()).toEqual(
      [apps.name, release.space.name].sort(),
    );
    await Promise.all(
      [apps, release.space].map(async (space) => {
        await reloadEveryKind(space, {});
        await reloadForProviderClass(space, {});
      }),
    );
    await takeAway(release);
    await agrees(release, { refused: identified, unneeded: unused(release) });
  });
});

describe('an install that leaves some kinds alone', () => {
  it('still may do what CronJobs need of Jobs, and nothing more', async () => {
    const release = await Release.install('fewer', SMALL, {
      reloader: { watchGlobally: false, ignoreJobs: true, metaInfo: { enabled: false } },
    });
    await reloadEveryKind(release.space, {}, ['Job', 'Rollout', 'DeploymentConfig']);
    await release.space.delete('Lease/reroll-watcher');
    // A reload job that finds nothing to do asks for the Job of a worker that died (e2e/kinds/cron-job.spec.ts). Whether there is such
    // a reload job depends on what the watcher sees first.
    const rarelyNeeded = [`reroll-worker get jobs.batch in ${release.space.name}`];
    // The watcher asks whether it may finish what was begun with a Job (pending-job-stream.ts).
    const asks = `reroll-watcher list jobs.batch in ${release.space.name}`;
    const unneeded = unused(release);
    await agrees(release, { refused: [...identified, asks].sort(), unneeded, rarelyNeeded });
  });
});
