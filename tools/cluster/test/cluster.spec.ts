import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Cluster, attachCluster, clusterStatus, startCluster } from '../src/cluster.ts';
import { useCurrent } from '../src/current.ts';
import { kube } from '../src/kube-api.ts';
import { askRedis } from '../src/servers/redis-protocol.ts';
import { waitUntil } from '../src/wait.ts';
import { freshDir, processesOf } from './helpers.ts';

const REPLICAS = 5;
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';

const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    replicas: REPLICAS,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'web', image: 'web:1' }] },
    },
  },
};

interface Workload {
  readonly metadata: { readonly generation: number };
  readonly status: Readonly<Partial<Record<string, number>>>;
}

describe('a cluster', () => {
  const { parent, dir } = freshDir();
  let cluster: Cluster;

  beforeAll(async () => {
    cluster = await startCluster({ dir, audit: true, log: () => {} });
  });
  afterAll(async () => {
    await cluster.stop();
  });

  async function rolledOut(): Promise<void> {
    await waitUntil(
      async () => {
        const { metadata, status } = (await kube(cluster.access, { path: `${DEPLOYMENTS}/web` })) as Workload;
        const counts = [status['replicas'], status['updatedReplicas'], status['availableReplicas']];
        return (
          status['observedGeneration'] === metadata.generation && counts.every((count) => count === REPLICAS)
        );
      },
      { what: 'the roll-out', timeoutMs: 20_000 },
    );
  }

  it('tells the version that it was built from, over TLS that its own authority signed', async () => {
    const version = await kube(cluster.access, { path: '/version' });
    expect(version).toMatchObject({ gitVersion: 'v1.36.3', major: '1', minor: '36' });
  });

  it('has three nodes, ready and without taints', async () => {
    const { items } = (await kube(cluster.access, { path: '/api/v1/nodes' })) as {
      items: { spec: { taints?: unknown }; status: { capacity: object } }[];
    };
    expect(items).toHaveLength(3);
    for (const { spec, status } of items) {
      expect(spec.taints).toBeUndefined();
      expect(status.capacity).toMatchObject({ pods: '10k' });
    }
  });

  it('makes a Deployment of five replicas ready and rolls it', async () => {
    await kube(cluster.access, { path: DEPLOYMENTS, body: deployment });
    await rolledOut();
    await kube(cluster.access, {
      path: `${DEPLOYMENTS}/web`,
      method: 'PATCH',
      contentType: 'application/merge-patch+json',
      body: { spec: { template: { metadata: { annotations: { rolled: 'once' } } } } },
    });
    await rolledOut();
    const path = '/api/v1/namespaces/default/pods?fieldSelector=status.phase%3DRunning';
    await waitUntil(
      async () => {
        const { items } = (await kube(cluster.access, { path })) as { items: unknown[] };
        return items.length === REPLICAS;
      },
      { what: 'the old pods to go', timeoutMs: 20_000 },
    );
  });

  it('writes every request into the audit log', async () => {
    await kube(cluster.access, { path: '/api/v1/namespaces?labelSelector=audited' });
    expect(readFileSync(cluster.auditLog, 'utf8')).toContain('/api/v1/namespaces?labelSelector=audited');
  });

  it('keeps what Redis holds across kill -9 and restart', async () => {
    const redis = { host: '127.0.0.1', port: cluster.ports.redis ?? 0 };
    const before = cluster.pids.redis;
    expect(await askRedis(redis, 'SET kept yes')).toBe('+OK');
    await cluster.kill('redis');
    expect(clusterStatus(dir)).toContainEqual(expect.objectContaining({ name: 'redis', running: false }));
    expect(await askRedis(redis, 'PING')).toBeUndefined();
    await cluster.restart('redis');
    expect(cluster.pids.redis).not.toBe(before);
    expect(await askRedis(redis, 'GET kept')).toBe('yes');
  });

  it('keeps objects, address and credentials across a kill and restart of kube-apiserver', async () => {
    await cluster.kill('apiserver');
    await expect(kube(cluster.access, { path: '/version' })).rejects.toThrow(/ECONNREFUSED/);
    await cluster.restart('apiserver');
    await rolledOut();
  });

  it('can be repaired by another process, from its folder alone', async () => {
    await cluster.kill('scheduler');
    const attached = attachCluster(dir);
    await attached.restart('scheduler');
    expect(cluster.pids).toEqual(attached.pids);
    expect(clusterStatus(dir).filter(({ running }) => !running)).toEqual([]);
  });

  it('is taken as the current one', async () => {
    const environment = { KUBECONFIG: cluster.kubeconfig, REDIS_URL: cluster.redisUrl };
    expect(await useCurrent(environment)).toEqual({
      kubeconfig: cluster.kubeconfig,
      redisUrl: cluster.redisUrl,
    });
  });

  it('is refused a second start in the same folder', async () => {
    await expect(startCluster({ dir, log: () => {} })).rejects.toThrow(
      /runs in .* already: etcd \(pid \d+\)/,
    );
  });

  it('leaves no process and no file when it stops', async () => {
    await cluster.stop();
    expect(processesOf(dir)).toEqual([]);
    expect(existsSync(dir)).toBe(false);
    expect(readdirSync(parent)).toEqual([]);
  });
});
