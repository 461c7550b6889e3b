import type { ClusterState } from '@reroll/core/state/cluster-state';

/** What is pending: how many workloads, and for how long (ms, by resyncs) the longest has waited; 0 if none does. */
export function pendingReloads(
  clusterState: ClusterState,
  interval: number,
): { workloads: number; oldest: number } {
  let workloads = 0;
  let resyncs = 0;
  for (const { cause, sinceResync } of clusterState.pending.values()) {
    if (cause !== 'owed') continue;
    workloads += 1;
    resyncs = Math.max(resyncs, clusterState.resyncs - sinceResync);
  }
  return { workloads, oldest: resyncs * interval };
}
