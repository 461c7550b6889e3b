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

async function installed(...set: readonly string[]): Promise<string> {
  const args = ['install', 'reroll', CHART, '--namespace', space.name, '--dry-run=server'];
  return await helm.run([...args, ...set.map((each) => `--set=${each}`)]);
}

async function storageClass(name: string, isDefault: boolean): Promise<void> {
  const annotations = { 'storageclass.kubernetes.io/is-default-class': String(isDefault) };
  await space.client.post(CLASSES, { metadata: { name, annotations }, provisioner: 'example.com/none' });
  cleanUp(() => space.client.request({ method: 'DELETE', path: `${CLASSES}/${name}` }));
}

const VOLUME = 'volumeClaimTemplates:';
const IN_POD = 'Redis keeps its file in its pod';

describe('the volume of Redis', () => {
  it('is left out, and the notes say so, where no StorageClass is the default, unless one is named', async () => {
    await storageClass('slow', false);
    const text = await installed();
    expect(text).not.toContain(VOLUME);
    expect(text).toContain(IN_POD);
    expect(await installed('redis.persistence.storageClass=slow')).toContain(VOLUME);
  });

  it('is asked for where there is a default StorageClass, but not by a scoped install, nor if it is not wanted', async () => {
    await storageClass('standard', true);
    const text = await installed();
    expect(text).toContain(VOLUME);
    expect(text).not.toContain(IN_POD);
    // The policies for the worker's account are made, because this API server has them.
    expect(text).toContain('kind: ValidatingAdmissionPolicy\n');
    expect(await installed('reloader.watchGlobally=false')).not.toContain(VOLUME);
    expect(await installed('redis.persistence.enabled=false')).not.toContain(VOLUME);
  });

  it('stays as it is once Redis is there, whatever the cluster has now', async () => {
    const labels = { app: 'redis' };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'redis', image: 'redis' }] } };
    const claim = {
      metadata: { name: 'data' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    };
    const path = `/apis/apps/v1/namespaces/${space.name}/statefulsets`;
    const owner = {
      labels: { 'app.kubernetes.io/managed-by': 'Helm' },
      annotations: { 'meta.helm.sh/release-name': 'reroll', 'meta.helm.sh/release-namespace': space.name },
    };
    const make = async (volumeClaimTemplates: readonly object[]): Promise<void> => {
      const spec = { replicas: 0, serviceName: 'reroll-redis', selector: { matchLabels: labels }, template };
      const metadata = { name: 'reroll-redis', ...owner };
      await space.client.post(path, { metadata, spec: { ...spec, volumeClaimTemplates } });
    };
    await make([claim]);
    expect(await installed()).toContain(VOLUME);
    await space.client.request({ method: 'DELETE', path: `${path}/reroll-redis` });
    await make([]);
    await storageClass('standard', true);
    expect(await installed()).not.toContain(VOLUME);
  });
});

describe('the certificate of Redis', () => {
  const certificateIn = (text: string): string => / {2}tls\.crt: (\S+)/u.exec(text)?.[1] ?? '';

  it('is kept as it is in the cluster, and made where there is none', async () => {
    const made = certificateIn(await installed('redis.tls.enabled=true'));
    expect(Buffer.from(made, 'base64').toString()).toContain('BEGIN CERTIFICATE');
    const text = Buffer.from('kept').toString('base64');
    const metadata = {
      name: 'reroll-redis-tls',
      labels: { 'app.kubernetes.io/managed-by': 'Helm' },
      annotations: { 'meta.helm.sh/release-name': 'reroll', 'meta.helm.sh/release-namespace': space.name },
    };
    const data = { 'tls.crt': text, 'tls.key': text, 'ca.crt': text };
    await space.client.post(`/api/v1/namespaces/${space.name}/secrets`, { metadata, data });
    expect(certificateIn(await installed('redis.tls.enabled=true'))).toBe(text);
  });
});
