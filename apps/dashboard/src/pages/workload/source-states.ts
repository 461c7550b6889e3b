import type { Workload } from '@reroll/shared/api/workloads';
import { dependencyState, type DependencyState } from '../../dependency-state.ts';
import type { ReloadState } from '../../words.ts';

/** The state of each source of a workload, in their order. */
export function sourceStates(workload: Workload): DependencyState[] {
  const latest = latestState(workload);
  const [last] = workload.history;
  return workload.sourcesInDetail.map((dependency) => {
    const { kind, name } = dependency.source;
    // Only of what the pods are being replaced for; the rollout may have another cause.
    const isCause = last?.rolled.includes(`${kind}/${name}`) === true;
    return dependencyState(dependency, { latest, rollout: isCause ? workload.rollout : 'complete' });
  });
}

/** What became of the latest reload: a hold and a job tell more than the history. */
function latestState({ hold, job, history: [last] }: Workload): ReloadState | undefined {
  if (hold) return 'held';
  if (job) return job.attempts > 0 ? 'retrying' : 'pending';
  return last?.state;
}
