import type { ClusterState } from '@reroll/core/state/cluster-state';

/** What is owed: how many workloads, and for how long (ms, by sweeps) the longest has waited; 0 if none does. */
export function owedOf(clusterState: ClusterState, interval: number): { workloads: number; oldest: number } {
  let workloads = 0;
  let sweeps = 0;
  for (const { cause, sinceSweep } of clusterState.unsettled.values()) {
    if (cause !== 'owed') continue;
    workloads += 1;
    sweeps = Math.max(sweeps, clusterState.sweeps - sinceSweep);
  }
  return { workloads, oldest: sweeps * interval };
}
