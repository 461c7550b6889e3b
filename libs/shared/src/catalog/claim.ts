import { setTimeout as pause } from 'node:timers/promises';
import { ReplyError } from 'ioredis';
import type { Catalog } from './catalog.ts';
import { CatalogError } from './errors.ts';

const RETRY = 100;

/**
 * Claims the prefix for a cluster, waiting for a Redis that cannot be reached until the signal fires; false if
 * it did. Whoever opened the connection tells that it is down. Rejects with CATALOG_OTHER_CLUSTER, or with
 * Redis' own error if it answers and refuses.
 */
export async function claimWhenReachable(
  catalog: Pick<Catalog, 'claim'>,
  clusterUid: string,
  signal: AbortSignal,
): Promise<boolean> {
  while (!signal.aborted) {
    try {
      await catalog.claim(clusterUid);
      return true;
    } catch (error) {
      // What is left is a command that got no answer in time, or that the end has cut off.
      if (error instanceof CatalogError || error instanceof ReplyError) throw error;
      await pause(RETRY, undefined, { signal }).catch(() => undefined);
    }
  }
  return false;
}
