import { inject } from 'vitest';
import { attachCluster, clusterStatus, type Cluster } from '../../../tools/cluster/src/cluster.ts';

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
