import type { ClusterState } from '@reroll/core/state/cluster-state';
import { namespaceOf, type Key, type SourceKey, type WorkloadKey } from '@reroll/core/model';
import type { Catalog } from '@reroll/redis/catalog/catalog';

/** Keys of the catalog's rows for objects that no longer exist. */
export interface LeftOver {
  readonly sources: readonly SourceKey[];
  readonly workloads: readonly WorkloadKey[];
}

export interface LeftOverQuestions {
  /** Whether it is still unknown if the workload exists. */
  readonly isUndecided: (key: WorkloadKey) => boolean;
  /** Whether rows of a namespace that the cluster state does not have are worth nothing: it is out of scope, or entered it since. */
  readonly isOutdated: (namespace: string) => boolean;
}

/** Reads the catalog for rows that a complete cluster state does not have. Rejects if Redis cannot be read. */
export async function leftOverIn(
  { clusterState, catalog }: { readonly clusterState: ClusterState; readonly catalog: Catalog },
  { isUndecided, isOutdated }: LeftOverQuestions,
): Promise<LeftOver> {
  const isOld = (key: Key<string>): boolean => isOutdated(namespaceOf(key));
  const isGone = (key: WorkloadKey): boolean => isOld(key) || !isUndecided(key);
  const workloads = catalog.eachWorkload((key) => !clusterState.workloads.has(key) && isGone(key));
  const sources = catalog.eachSource((key) => !clusterState.sources.has(key));
  return {
    workloads: await keysOf(workloads, () => true),
    // The row of a deleted source was dropped by this watcher as a standby, and the leader of that time did not remove it.
    sources: await keysOf(sources, (key, { exists }) => !exists || isOld(key)),
  };
}

async function keysOf<ObjectKey, Row>(
  portions: AsyncIterable<readonly (readonly [ObjectKey, Row])[]>,
  isMeant: (key: ObjectKey, row: Row) => boolean,
): Promise<ObjectKey[]> {
  const keys: ObjectKey[] = [];
  for await (const portion of portions)
    for (const [key, row] of portion) if (isMeant(key, row)) keys.push(key);
  return keys;
}
