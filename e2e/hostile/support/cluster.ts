import { inject } from 'vitest';
import { attachCluster, type Cluster } from '../../../tools/cluster/src/cluster.ts';

/** The cluster of the suite `hostile`. */
export function hostileCluster(): Cluster {
  return attachCluster(inject('bareCluster'));
}
