import type { Catalog } from './catalog.ts';
import { whenReachable, type Waiting } from '../connection/when-reachable.ts';

/**
 * Claims the prefix for a cluster, waiting for a Redis that cannot be reached until the signal fires; false if
 * it did. Whoever opened the connection tells that it is down. Rejects with CATALOG_OTHER_CLUSTER, or with
 * Redis' own error if it answers and refuses.
 */
export async function claimWhenReachable(
  catalog: Pick<Catalog, 'claim'>,
  clusterUid: string,
  waiting: Waiting,
): Promise<boolean> {
  return (await whenReachable(() => catalog.claim(clusterUid).then(() => true), waiting)) ?? false;
}
