import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { parse, stringify } from 'yaml';
import type { Cluster } from '../../../tools/cluster/src/cluster.ts';
import { manifestsWith, type ChartValues, type Manifest } from '../../../tools/deploy/render.ts';
import { KubeClient } from '@reroll/kube/client/connection';
import { deployment } from './builders.ts';
import { cleanUp } from '../cleanup.ts';
import { APPLY_PATCH, DRY_RUN, connect, Space, statusOf } from '../kube.ts';
import { ISSUER, tokenOf } from '../admin/service-account-tokens.ts';
import { eventually } from '../wait.ts';

/** The worker's ServiceAccount, with the rights and under the policies that the chart makes for it. */
export interface WorkerAccount {
  /** What a worker with these rights is started with. */
  readonly kubeconfig: string;
  /** Asks the API server as it. */
  readonly client: KubeClient;
}

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const ADMISSION = '/apis/admissionregistration.k8s.io/v1';

const COLLECTIONS: Readonly<Record<string, (namespace: string) => string>> = {
  ServiceAccount: (namespace) => `/api/v1/namespaces/${namespace}/serviceaccounts`,
  ClusterRole: () => `${RBAC}/clusterroles`,
  ClusterRoleBinding: () => `${RBAC}/clusterrolebindings`,
  ValidatingAdmissionPolicy: () => `${ADMISSION}/validatingadmissionpolicies`,
  ValidatingAdmissionPolicyBinding: () => `${ADMISSION}/validatingadmissionpolicybindings`,
};

/** Makes what the chart makes for the worker of an install in this namespace; resolves when its policies are in force. */
export async function workerAccount(
  cluster: Cluster,
  install: string,
  values: ChartValues = {},
): Promise<WorkerAccount> {
  const client = connect(cluster);
  const worker = { admissionPolicy: { enabled: true } };
  const all = await manifestsWith({ worker, ...values }, { namespace: install });
  const mine = all.filter(
    ({ kind, metadata }) =>
      metadata.labels?.['app.kubernetes.io/component'] === 'worker' && kind in COLLECTIONS,
  );
  for (const manifest of mine) await apply(client, install, manifest);
  const token = await tokenOf(new Space(client, install), 'reroll-worker', ISSUER);
  const kubeconfig = kubeconfigOf(cluster, token);
  const own = new KubeClient({ kubeconfig, userAgent: 'e2e-worker-account' });
  cleanUp(() => own.close());
  await inForce(client, own, install);
  return { kubeconfig, client: own };
}

async function apply(client: KubeClient, namespace: string, manifest: Manifest): Promise<void> {
  const path = `${COLLECTIONS[manifest.kind]?.(namespace)}/${manifest.metadata.name}`;
  const query = { fieldManager: 'e2e', force: true };
  await client.patch(path, manifest, { contentType: APPLY_PATCH, query });
  cleanUp(() => client.request({ method: 'DELETE', path }).catch(() => undefined));
}

/** A kubeconfig of a cluster, as whoever has this token. */
export function kubeconfigOf(cluster: Cluster, token: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'reroll-e2e-worker-'));
  cleanUp(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'kubeconfig');
  const config = parse(readFileSync(cluster.kubeconfig, 'utf8')) as object;
  writeFileSync(file, stringify({ ...config, users: [{ name: 'admin', user: { token } }] }));
  return file;
}

/** Requests that only the policies refuse: the rights are there, and what is written is valid. */
async function inForce(admin: KubeClient, own: KubeClient, namespace: string): Promise<void> {
  const install = new Space(admin, namespace);
  await install.apply(deployment('probe'));
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'app', image: 'x' }] } };
  const jobs = { path: `/apis/batch/v1/namespaces/${namespace}/jobs`, name: 'probe' };
  const label = [{ op: 'add', path: '/metadata/labels/probe', value: 'x' }];
  const probe = async (client: KubeClient): Promise<readonly number[]> => [
    await statusOf(client.patch(install.path('Deployment/probe'), label, DRY_RUN)),
    await statusOf(client.post(jobs.path, { metadata: { name: jobs.name }, spec: { template } }, DRY_RUN)),
  ];
  await eventually(
    async () => {
      expect({ admin: await probe(admin), own: await probe(own) }).toEqual({
        admin: [200, 201],
        own: [403, 403],
      });
      return true;
    },
    { what: 'the policies to be in force', within: 60_000 },
  );
}
