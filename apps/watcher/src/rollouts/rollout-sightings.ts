import type { ClusterState } from '@reroll/core/state/cluster-state';
import type { ObservedWorkload, WorkloadRow } from '@reroll/core/state/rows';
import type { WorkloadKey } from '@reroll/core/model';
import type { RolloutTracker } from '@reroll/core/rollouts/rollout-tracker';
import type { StaleRollouts } from '@reroll/core/rollouts/stale-rollouts';
import type { ShownRollout } from '@reroll/kube/workloads/seen-rollout';
import type { StuckPods } from './stuck-pods.ts';

interface Sighting {
  readonly key: WorkloadKey;
  readonly workload: ObservedWorkload;
  readonly rollout: ShownRollout;
}

/** Passes what the streams show of workloads with dependencies to the rollout tracker. */
export class RolloutSightings {
  readonly #clusterState: ClusterState;
  readonly #tracker: RolloutTracker;
  readonly #stale: StaleRollouts;
  readonly #stuckPods: Pick<StuckPods, 'want' | 'gone' | 'prune'>;

  constructor(
    clusterState: ClusterState,
    { tracker, stale }: { tracker: RolloutTracker; stale: StaleRollouts },
    stuckPods: Pick<StuckPods, 'want' | 'gone' | 'prune'>,
  ) {
    this.#clusterState = clusterState;
    this.#tracker = tracker;
    this.#stale = stale;
    this.#stuckPods = stuckPods;
  }

  gone(workload: WorkloadKey): void {
    this.#tracker.gone(workload);
    this.#stale.gone(workload);
    this.#stuckPods.gone(workload);
  }

  /** Forgets workloads that the cluster state no longer has. */
  prune(): void {
    const isThere = (key: WorkloadKey): boolean => this.#clusterState.workloads.has(key);
    this.#tracker.prune(isThere);
    this.#stale.prune();
    this.#stuckPods.prune(isThere);
  }

  /** `update` updates the cluster state with the same sightings. A rollout begins where the pod template differs after that. */
  seen(sightings: readonly Sighting[], update: () => void): void {
    const before = sightings.map(({ key }) => this.#clusterState.workloads.get(key));
    update();
    const now = Date.now();
    for (const [index, { key, workload, rollout }] of sightings.entries()) {
      const row = this.#clusterState.workloads.get(key);
      if (!row || (row.dependencies.length === 0 && !this.#tracker.tracked.has(key))) continue;
      const isFollower = workload.templateFrom !== undefined && !this.#tracker.tracked.has(key);
      // Its pods are replaced before it is written itself, because it uses another workload's pod template.
      const isUpdating = isFollower && rollout.code === 'Updating';
      const held = this.#tracker.tracked.get(key);
      const isFirst = before[index] === undefined;
      this.#tracker.seen(rollout, { begins: isUpdating || begins(before[index], row), isFirst, now });
      if (this.#tracker.tracked.get(key) !== held) this.#explain(rollout);
      this.#stale.seen(key, before[index], now);
    }
  }

  #explain({ workload, podSelector }: ShownRollout): void {
    if (podSelector !== undefined) this.#stuckPods.want(workload, podSelector);
  }
}

/** Whether the workload or its pod template is new. */
function begins(before: WorkloadRow | undefined, now: WorkloadRow): boolean {
  return before?.uid !== now.uid || before.templateRv !== now.templateRv;
}
