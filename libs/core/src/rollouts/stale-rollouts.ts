import { kindOf, namespaceOf, type WorkloadKey } from '../model.ts';
import { isNewer, RV_UNKNOWN, type Rv } from '../rv.ts';
import type { ClusterState } from '../state/cluster-state.ts';
import { sourceKeyIn, type SourceName, type WorkloadRow } from '../state/rows.ts';
import type { RolloutEntry } from '../history/entries.ts';

interface UnderWay {
  /** No pod of the workload has an older pod template than this one; `'0'` if that is not known. */
  readonly from: Rv;
  /** Unix milliseconds since which the workload has had a rollout under way, as far as this process knows. */
  readonly since: number;
}

/**
 * Which rollouts under way replace pods that may have older data of a dependency. A rollout that begins before the last one is
 * complete continues it. In memory only: of a rollout that was under way at the start of the process, the earlier pod template is not
 * known, and its pods may have anything. At most one entry for each rollout under way.
 */
export class StaleRollouts {
  readonly #known: Pick<ClusterState, 'sources' | 'workloads'>;
  /** Rollouts that are not complete. */
  readonly #tracked: ReadonlyMap<WorkloadKey, RolloutEntry>;
  readonly #underWay = new Map<WorkloadKey, UnderWay>();
  readonly underWay: ReadonlyMap<WorkloadKey, UnderWay> = this.#underWay;

  constructor(
    known: Pick<ClusterState, 'sources' | 'workloads'>,
    tracked: ReadonlyMap<WorkloadKey, RolloutEntry>,
  ) {
    this.#known = known;
    this.#tracked = tracked;
  }

  /** Call this after cluster state and tracker have received a sighting. `before`: the row before it. */
  seen(workload: WorkloadKey, before: WorkloadRow | undefined, now: number): void {
    const row = this.#known.workloads.get(workload);
    if (!row || !this.#tracked.has(workload)) this.#underWay.delete(workload);
    else if (!this.#underWay.has(workload))
      this.#underWay.set(workload, { from: oldestTemplate(workload, before, row), since: now });
  }

  gone(workload: WorkloadKey): void {
    this.#underWay.delete(workload);
  }

  /** Forgets the rollouts that the tracker no longer has. */
  prune(): void {
    for (const workload of this.#underWay.keys())
      if (!this.#tracked.has(workload)) this.#underWay.delete(workload);
  }

  /** Whether the workload has a rollout under way, and pods that it replaces may have older data of a dependency. */
  isStale(workload: WorkloadKey): boolean {
    const held = this.#underWay.get(workload);
    const rollout = this.#tracked.get(workload);
    const row = this.#known.workloads.get(workload);
    if (!held || !rollout || !row || areReplaced(rollout)) return false;
    const namespace = namespaceOf(workload);
    return row.dependencies.some((name) => this.#isNewSince(held.from, namespace, name));
  }

  #isNewSince(from: Rv, namespace: string, name: SourceName): boolean {
    const source = this.#known.sources.get(sourceKeyIn(namespace, name));
    return source?.exists === true && isNewer(source.dataRv, from);
  }
}

/** Whether all pods are of the present template. What is missing is that they become available. */
function areReplaced({ code, updated, desired }: RolloutEntry): boolean {
  return code === 'Unavailable' && updated >= desired;
}

/** Returns the oldest pod template that pods may have when a rollout is seen for the first time. */
function oldestTemplate(workload: WorkloadKey, before: WorkloadRow | undefined, row: WorkloadRow): Rv {
  if (!before) return isUnchanged(workload, row) ? row.rv : RV_UNKNOWN;
  // The pods of the workload that had this name are deleted with it.
  return before.uid === row.uid ? before.templateRv : row.rv;
}

/** Whether the pod template is as it was created, so that no rollout has replaced any pods. A Job's never changes. */
function isUnchanged(workload: WorkloadKey, row: WorkloadRow): boolean {
  return kindOf(workload) === 'Job' || (row.generation === 1 && row.templateOwner === undefined);
}
