/**
 * Setup file of the suites whose specs start servers: gives the test helpers of libs, which know no tool, the tools that
 * start them. Loads a tool when a spec first starts a server with it.
 */
import { startClustersWith } from '@reroll/kube/testing/test-cluster';
import { startRedisWith } from '@reroll/redis/testing/redis-server';
import { inject } from 'vitest';

const LEAN = { nodes: 0, redis: false, controllerManager: false, scheduler: false, log: () => undefined };

startRedisWith(async (options) => {
  const { startRedis } = await import('../cluster/src/servers/redis.ts');
  return await startRedis(options);
});

startClustersWith(async (options) => {
  const { attachCluster, startCluster } = await import('../cluster/src/cluster.ts');
  if (options.featureGates !== undefined) return await startCluster({ ...LEAN, ...options });
  const shared = attachCluster(inject('bareCluster'));
  return Object.create(shared, { stop: { value: () => Promise.resolve() } }) as typeof shared;
});
