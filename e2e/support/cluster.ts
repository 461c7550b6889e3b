import { inject } from 'vitest';
import { attachCluster, type Cluster } from '../../tools/cluster/src/cluster.ts';

/** The cluster that `global-setup.ts` started; nobody may kill a part of it. */
export function sharedCluster(): Cluster {
  return attachCluster(inject('sharedCluster'));
}
