import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type KubeAccess, kube } from '../kube-api.ts';
import { API_PORT, DNS_IP, NODE_NAME, type Place } from './place.ts';

const VOLUMES = 30;
const DISCOVERY = '/apis/discovery.k8s.io/v1/namespaces';
const STORAGE = '/apis/storage.k8s.io/v1/storageclasses';

/** What pods find in a cluster: the API server and DNS as Services, and volumes for their claims. */
export async function createNodeObjects(access: KubeAccess, place: Place): Promise<void> {
  const slice = (service: string, ports: readonly object[]): object => ({
    metadata: { name: service, labels: { 'kubernetes.io/service-name': service } },
    addressType: 'IPv4',
    endpoints: [{ addresses: [place.nodeIp], conditions: { ready: true } }],
    ports,
  });
  const dns = ['UDP', 'TCP'].map((protocol) => ({
    name: `dns-${protocol.toLowerCase()}`,
    port: 53,
    protocol,
  }));
  const https = [{ name: 'https', port: API_PORT, protocol: 'TCP' }];
  await kube(access, { path: `${DISCOVERY}/default/endpointslices`, body: slice('kubernetes', https) });
  const service = { metadata: { name: 'kube-dns' }, spec: { clusterIP: DNS_IP, ports: dns } };
  await kube(access, { path: '/api/v1/namespaces/kube-system/services', body: service });
  await kube(access, { path: `${DISCOVERY}/kube-system/endpointslices`, body: slice('kube-dns', dns) });
  await createVolumes(access, place);
}

/** Folders of this machine. Nothing makes more of them, and none is used twice. */
async function createVolumes(access: KubeAccess, { folder }: Place): Promise<void> {
  const name = 'local';
  const annotations = { 'storageclass.kubernetes.io/is-default-class': 'true' };
  const how = { provisioner: 'kubernetes.io/no-provisioner', volumeBindingMode: 'WaitForFirstConsumer' };
  await kube(access, { path: STORAGE, body: { metadata: { name, annotations }, ...how } });
  for (let index = 0; index < VOLUMES; index += 1) {
    const path = join(folder, 'volumes', String(index));
    mkdirSync(path, { recursive: true });
    const here = { key: 'kubernetes.io/hostname', operator: 'In', values: [NODE_NAME] };
    const body = {
      metadata: { name: `volume-${index}` },
      spec: {
        capacity: { storage: '100Gi' },
        accessModes: ['ReadWriteOnce'],
        storageClassName: name,
        local: { path },
        nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [here] }] } },
      },
    };
    await kube(access, { path: '/api/v1/persistentvolumes', body });
  }
}

interface RealNode {
  readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/** Whether the kubelet has registered its node and calls it ready. */
export async function nodeIsReady(access: KubeAccess): Promise<boolean> {
  const path = `/api/v1/nodes?fieldSelector=metadata.name%3D${NODE_NAME}`;
  const { items } = (await kube(access, { path })) as { items: readonly RealNode[] };
  const conditions = items[0]?.status.conditions ?? [];
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
}
