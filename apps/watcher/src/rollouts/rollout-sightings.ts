import type { ClusterState } from '@reroll/core/state/cluster-state';
import type { ObservedWorkload, WorkloadRow } from '@reroll/core/state/rows';
import { TemplateFollowers } from '@reroll/core/state/workloads/template-followers';
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

/**
 * Passes what the streams show of workloads with dependencies to the rollout tracker. A workload with the pod template of another one
 * is passed again whenever that one is seen, so that its rollout begins with the template, before its own status says so.
 */
export class RolloutSightings {
  readonly #clusterState: ClusterState;
  readonly #tracker: RolloutTracker;
  readonly #stale: StaleRollouts;
  readonly #stuckPods: Pick<StuckPods, 'want' | 'gone' | 'prune'>;
  readonly #followers = new TemplateFollowers<Sighting>();

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
    this.#followers.forget(workload);
  }

  /** Forgets workloads that the cluster state no longer has. */
  prune(): void {
    const isThere = (key: WorkloadKey): boolean => this.#clusterState.workloads.has(key);
    this.#tracker.prune(isThere);
    this.#stale.prune();
    this.#stuckPods.prune(isThere);
    this.#followers.prune(isThere);
  }

  /** `update` updates the cluster state with the same sightings. A rollout begins where the pod template differs after that. */
  seen(sightings: readonly Sighting[], update: () => void): void {
    const all = this.#withFollowers(sightings);
    const before = all.map(({ key }) => this.#clusterState.workloads.get(key));
    update();
    const now = Date.now();
    for (const [index, sighting] of all.entries()) this.#track(sighting, before[index], now);
  }

  #withFollowers(sightings: readonly Sighting[]): readonly Sighting[] {
    for (const sighting of sightings) this.#followers.put(sighting.workload, sighting);
    return [...sightings, ...sightings.flatMap(({ key }) => this.#followers.of(key))];
  }

  #track({ key, rollout: shown }: Sighting, before: WorkloadRow | undefined, now: number): void {
    const row = this.#clusterState.workloads.get(key);
    const held = this.#tracker.tracked.get(key);
    if (!row || (row.dependencies.length === 0 && !held)) return;
    const isBeginning = begins(before, row);
    const rollout = held || isBeginning ? ofPresentTemplate(shown, row) : shown;
    this.#tracker.seen(rollout, { begins: isBeginning, isFirst: before === undefined, now });
    if (this.#tracker.tracked.get(key) !== held) this.#explain(rollout);
    this.#stale.seen(key, before, now);
  }

  #explain({ workload, podSelector }: ShownRollout): void {
    if (podSelector !== undefined) this.#stuckPods.want(workload, podSelector);
  }
}

/** Whether the workload or its pod template is new. */
function begins(before: WorkloadRow | undefined, now: WorkloadRow): boolean {
  return before?.uid !== now.uid || before.templateRv !== now.templateRv;
}

/** Until its controller has processed the owner of its pod template, a workload's status is that of an earlier rollout. */
function ofPresentTemplate(shown: ShownRollout, { templateOwner }: WorkloadRow): ShownRollout {
  const { templateGeneration: processed } = shown;
  if (!templateOwner || processed === undefined || processed === templateOwner.generation) return shown;
  return { ...shown, state: 'progressing', code: 'NotObserved', podSelector: undefined };
}
