import type { Workload } from '@reroll/shared/api/workloads';
import { dependencyState, pendingState, rolloutFor, type DependencyState } from '../../dependency-state.ts';

/** The state of each source of a workload, in their order. */
export function sourceStates(workload: Workload): DependencyState[] {
  const latest = pendingState(workload);
  return workload.sourcesInDetail.map((dependency) => {
    const rollout = rolloutFor(dependency.source, workload);
    return dependencyState(dependency, { latest, rollout });
  });
}
