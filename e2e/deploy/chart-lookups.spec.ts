import { beforeAll, describe, expect, it } from 'vitest';
import { CHART } from '../../tools/deploy/values/values-comments.ts';
import { Helm } from '../install/support/helm.ts';
import { cleanUp } from '../support/cleanup.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type Space } from '../support/kube.ts';

/** What the chart makes of what it finds in the cluster: by a dry run of helm at a real API server. */
const CLASSES = '/apis/storage.k8s.io/v1/storageclasses';

let space: Space;
let helm: Helm;

beforeAll(async () => {
  space = await namespace(connect(sharedCluster()));
  helm = await Helm.of(sharedCluster());
});

const DRY_RUN = ['install', 'reroll', CHART, '--dry-run=server'];

async function installed(...set: readonly string[]): Promise<string> {
  return await helm.run([...DRY_RUN, '--namespace', space.name, ...set.map((each) => `--set=${each}`)]);
}

async function storageClass(name: string, isDefault: boolean): Promise<void> {
  const annotations = { 'storageclass.kubernetes.io/is-default-class': String(isDefault) };
  await space.client.post(CLASSES, { metadata: { name, annotations }, provisioner: 'example.com/none' });
  cleanUp(() => space.client.request({ method: 'DELETE', path: `${CLASSES}/${name}` }));
}

const VOLUME = 'volumeClaimTemplates:';
const IN_POD = 'Redis keeps its file in its pod';
const OWNER = {
  labels: { 'app.kubernetes.io/managed-by': 'Helm' },
  annotations: { 'meta.helm.sh/release-name': 'reroll' },
};

/** What helm takes to be an earlier install's. */
function ofRelease(name: string): object {
  const annotations = { ...OWNER.annotations, 'meta.helm.sh/release-namespace': space.name };
  return { ...OWNER, name, annotations };
}

it('Redis has a volume where a StorageClass is the default, or is told to be without one', async () => {
  await storageClass('slow', false);
  const without = await installed('redis.tls.enabled=true,redis.persistence.enabled=auto');
  expect(without).not.toContain(VOLUME);
  expect(without).toContain(IN_POD);
  // A Job makes the certificate.
  expect(without).not.toContain('tls.crt:');
  await storageClass('standard', true);
  expect(await installed()).not.toContain(VOLUME);
  const text = await installed('redis.persistence.enabled=auto');
  expect(text).toContain(VOLUME);
  expect(text).not.toContain(IN_POD);
  // The policies for the worker's account are made, because this API server has them.
  expect(text).toContain('kind: ValidatingAdmissionPolicy\n');
  expect(await installed('reloader.watchGlobally=false,redis.persistence.enabled=auto')).not.toContain(
    VOLUME,
  );
});

it('the volume of an earlier release stays as it is, whatever the cluster has now', async () => {
  const labels = { app: 'redis' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'redis', image: 'redis' }] } };
  const claim = {
    metadata: { name: 'data' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  };
  const path = `/apis/apps/v1/namespaces/${space.name}/statefulsets`;
  const make = async (volumeClaimTemplates: readonly object[]): Promise<void> => {
    const spec = { replicas: 0, serviceName: 'reroll-redis', selector: { matchLabels: labels }, template };
    const metadata = ofRelease('reroll-redis');
    await space.client.post(path, { metadata, spec: { ...spec, volumeClaimTemplates } });
  };
  await make([claim]);
  expect(await installed()).toContain(VOLUME);
  await space.client.request({ method: 'DELETE', path: `${path}/reroll-redis` });
  await make([]);
  await storageClass('standard', true);
  expect(await installed()).not.toContain(VOLUME);
});

it('an install without ClusterRoles needs no rights outside its namespace', async () => {
  const name = `tenant-of-${space.name}`;
  const path = `/apis/rbac.authorization.k8s.io/v1/namespaces/${space.name}`;
  const rules = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }];
  await space.client.post(`${path}/roles`, { metadata: { name }, rules });
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name };
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name }];
  await space.client.post(`${path}/rolebindings`, { metadata: { name }, roleRef, subjects });
  const as = (...set: readonly string[]): ReturnType<Helm['try']> => {
    const values = ['reloader.watchGlobally=false', ...set].map((each) => `--set=${each}`);
    return helm.try([...DRY_RUN, '--namespace', space.name, '--kube-as-user', name, ...values]);
  };
  const { code, text } = await as('admin.auth=static,admin.staticTokens.existingSecret=tokens');
  expect({ code, text }).toEqual({ code: 0, text });
  expect(text).toContain('name: "reroll-admin"');
  expect(text).not.toContain('kind: ClusterRole');
  expect((await as('admin.rbac.clusterWide=true')).text).toContain('cannot get resource "clusterroles"');
});

describe('what the watchers fill in', () => {
  const [lease, metaInfo] = ['Lease/reroll-watcher', 'ConfigMap/reloader-meta-info'] as const;

  /** As a watcher makes them that has not seen earlier ones. */
  async function madeByWatcher({ name: namespace, client }: Space): Promise<void> {
    const own = (name: string): object => ({ metadata: { name, namespace } });
    const leases = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
    await client.post(leases, own('reroll-watcher'));
    await client.post(`/api/v1/namespaces/${namespace}/configmaps`, own('reloader-meta-info'));
  }

  const uids = async (space: Space): Promise<unknown[]> =>
    await Promise.all([lease, metaInfo].map(async (ref) => (await space.find(ref))?.metadata.uid));

  async function apply(space: Space, command: 'install' | 'upgrade', mode: string): Promise<void> {
    const values = [
      'reloader.watchGlobally=false',
      `mode=${mode}`,
      'watcher.replicas=1',
      'worker.replicas=1',
    ];
    const set = values.map((each) => `--set=${each}`);
    await helm.run([command, 'reroll', CHART, '--no-hooks', '--namespace', space.name, ...set]);
  }

  it('stays a part of the release after a watcher made it again, also in another mode', async () => {
    const own = await namespace(space.client);
    await apply(own, 'install', 'distributed');
    for (const ref of [lease, metaInfo]) await own.delete(ref);
    await madeByWatcher(own);
    const made = await uids(own);
    await apply(own, 'upgrade', 'standalone');
    expect(await uids(own)).toEqual(made);
    await helm.run(['uninstall', 'reroll', '--no-hooks', '--namespace', own.name]);
    expect(await uids(own)).toEqual([undefined, undefined]);
  });

  it('is left alone if it was there before the release', async () => {
    const own = await namespace(space.client);
    await madeByWatcher(own);
    const made = await uids(own);
    await apply(own, 'install', 'distributed');
    await apply(own, 'upgrade', 'distributed');
    await helm.run(['uninstall', 'reroll', '--no-hooks', '--namespace', own.name]);
    expect(await uids(own)).toEqual(made);
  });
});
