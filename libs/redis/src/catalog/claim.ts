import type { Catalog } from './catalog.ts';
import { whenReachable, type Waiting } from '../connection/when-reachable.ts';

/**
 * Claims the prefix for a cluster, and waits for an unreachable Redis until the signal fires; false if it did. The opener of the
 * connection reports that it is down. Rejects with CATALOG_OTHER_CLUSTER, or with Redis' own error if Redis answers and refuses.
 */
export async function claimWhenReachable(
  catalog: Pick<Catalog, 'claim'>,
  clusterUid: string | undefined,
  waiting: Waiting,
): Promise<boolean> {
  return (await whenReachable(() => catalog.claim(clusterUid).then(() => true), waiting)) ?? false;
}
