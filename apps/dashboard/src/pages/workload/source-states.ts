import type { Workload } from '@reroll/shared/api/workloads';
import { dependencyState, pendingState, type DependencyState } from '../../dependency-state.ts';

/** The state of each source of a workload, in their order. */
export function sourceStates(workload: Workload): DependencyState[] {
  const latest = pendingState(workload);
  const [last] = workload.history;
  return workload.sourcesInDetail.map((dependency) => {
    const { kind, name } = dependency.source;
    // Only of what the pods are being replaced for; the rollout may have another cause.
    const isCause = last?.rolled.includes(`${kind}/${name}`) === true;
    return dependencyState(dependency, { latest, rollout: isCause ? workload.rollout : 'complete' });
  });
}
