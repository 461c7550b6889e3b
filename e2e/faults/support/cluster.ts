import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject } from 'vitest';
import { TcpProxy } from '@reroll/kube/testing/tcp-proxy';
import { attachCluster, clusterStatus, type Cluster } from '../../../tools/cluster/src/cluster.ts';
import { cleanUp } from '../../support/cleanup.ts';

/** The project's cluster, all of it running, whatever the spec before has left. */
export async function mendedCluster(): Promise<Cluster> {
  const dir = inject('bareCluster');
  const cluster = attachCluster(dir);
  for (const { name, running } of clusterStatus(dir)) {
    if (running) await cluster.kill(name, 'SIGCONT');
    else await cluster.restart(name);
  }
  return cluster;
}

/** Port of kube-apiserver, of etcd, or of Redis. */
export function portOf(cluster: Cluster, component: 'apiserver' | 'etcd' | 'redis'): number {
  const port = cluster.ports[component];
  if (port === undefined) throw new Error(`expected a cluster with ${component}`);
  return port;
}

/** A way to a server of this machine that can be cut, frozen or slow. It ends with the test or the file. */
export async function linkTo(port: number): Promise<TcpProxy> {
  const link = await TcpProxy.start({ host: '127.0.0.1', port });
  cleanUp(() => link.stop());
  return link;
}

/** The same cluster for processes that are to reach its API server at another port; `http`: without TLS. */
export function reachedAt(cluster: Cluster, port: number, scheme: 'http' | 'https' = 'https'): Cluster {
  const folder = mkdtempSync(join(tmpdir(), 'reroll-kubeconfig-'));
  cleanUp(() => rmSync(folder, { recursive: true, force: true }));
  const kubeconfig = join(folder, 'kubeconfig');
  const text = readFileSync(cluster.kubeconfig, 'utf8').replace(
    cluster.access.server,
    `${scheme}://127.0.0.1:${port}`,
  );
  const authority = /certificate-authority-data: .*/u;
  writeFileSync(
    kubeconfig,
    scheme === 'https' ? text : text.replace(authority, 'insecure-skip-tls-verify: true'),
  );
  return Object.create(cluster, { kubeconfig: { value: kubeconfig } }) as Cluster;
}

/** Forgets etcd's past, and with the API server what it remembers of it: who resumes a watch gets a 410. */
export async function forgetThePast(cluster: Cluster, revision: string): Promise<void> {
  const url = `http://127.0.0.1:${portOf(cluster, 'etcd')}/v3/kv/compaction`;
  const answer = await fetch(url, { method: 'POST', body: JSON.stringify({ revision, physical: true }) });
  expect(answer.status).toBe(200);
  await cluster.restart('apiserver');
}
