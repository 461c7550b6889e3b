import type { ClusterState } from '@reroll/core/state/cluster-state';
import { namespaceOf, type SourceKey, type WorkloadKey } from '@reroll/core/model';
import type { Catalog } from '@reroll/redis/catalog/catalog';

/** Keys of the catalog's rows for objects that no longer exist. */
export interface LeftOver {
  readonly sources: readonly SourceKey[];
  readonly workloads: readonly WorkloadKey[];
}

export interface LeftOverQuestions {
  /** Whether it is still unknown if the workload exists. */
  readonly isUndecided: (key: WorkloadKey) => boolean;
  /** Whether a namespace is out of scope, so that its rows must leave the catalog. Undefined: no namespace ever leaves. */
  readonly isOutside?: ((namespace: string) => boolean) | undefined;
}

/** Reads the catalog for rows that a complete cluster state does not have. Rejects if Redis cannot be read. */
export async function leftOverIn(
  { clusterState, catalog }: { readonly clusterState: ClusterState; readonly catalog: Catalog },
  { isUndecided, isOutside }: LeftOverQuestions,
): Promise<LeftOver> {
  const isUnknown = (key: WorkloadKey): boolean => !clusterState.workloads.has(key) && !isUndecided(key);
  const workloads = await keysOf(catalog.eachWorkload(isUnknown));
  const outside = isOutside ? await keysOf(catalog.eachSource((key) => isOutside(namespaceOf(key)))) : [];
  // Rows that this watcher dropped as a standby, and that the leader of that time did not remove.
  const deleted = await keysOf(
    catalog.eachSource((key) => !clusterState.sources.has(key)),
    ({ exists }) => !exists,
  );
  return { sources: [...outside, ...deleted], workloads };
}

async function keysOf<ObjectKey, Row>(
  portions: AsyncIterable<readonly (readonly [ObjectKey, Row])[]>,
  isMeant: (row: Row) => boolean = () => true,
): Promise<ObjectKey[]> {
  const keys: ObjectKey[] = [];
  for await (const portion of portions) for (const [key, row] of portion) if (isMeant(row)) keys.push(key);
  return keys;
}
