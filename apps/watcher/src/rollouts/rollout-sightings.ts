import type { ClusterState } from '@reroll/core/state/cluster-state';
import { MultiMap } from '@reroll/core/state/multi-map';
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

/**
 * Passes what the streams show of workloads with dependencies to the rollout tracker. A workload with the pod template of another one
 * is passed again whenever that one is seen, so that its rollout begins with the template, before its own status says so.
 */
export class RolloutSightings {
  readonly #clusterState: ClusterState;
  readonly #tracker: RolloutTracker;
  readonly #stale: StaleRollouts;
  readonly #stuckPods: Pick<StuckPods, 'want' | 'gone' | 'prune'>;
  /** Workloads without a template of their own, as they were last seen. */
  readonly #followers = new Map<WorkloadKey, Sighting>();
  /** Maps the owner of a template to the workloads that follow it. */
  readonly #byOwner = new MultiMap<WorkloadKey>();

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
    this.#forget(workload);
  }

  /** Forgets workloads that the cluster state no longer has. */
  prune(): void {
    const isThere = (key: WorkloadKey): boolean => this.#clusterState.workloads.has(key);
    this.#tracker.prune(isThere);
    this.#stale.prune();
    this.#stuckPods.prune(isThere);
    for (const key of this.#followers.keys()) if (!isThere(key)) this.#forget(key);
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
    for (const sighting of sightings) this.#remember(sighting);
    const followers = sightings.flatMap(({ key }) => [...this.#byOwner.each(key)]);
    return [...sightings, ...followers.flatMap((key) => this.#followers.get(key) ?? [])];
  }

  #remember(sighting: Sighting): void {
    const { key, workload } = sighting;
    this.#forget(key);
    if (!workload.templateFrom) return;
    this.#followers.set(key, sighting);
    this.#byOwner.add(workload.templateFrom.owner, key);
  }

  #forget(key: WorkloadKey): void {
    const owner = this.#followers.get(key)?.workload.templateFrom?.owner;
    if (owner !== undefined) this.#byOwner.delete(owner, key);
    this.#followers.delete(key);
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
