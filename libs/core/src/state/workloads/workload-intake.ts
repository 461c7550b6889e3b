import { kindOf, namespaceOf, type WorkloadKey } from '../../model.ts';
import type { DecisionSettings } from '../../rules/decision.ts';
import type { ClusterState } from '../cluster-state.ts';
import type { Listed, Portion, Scope } from '../listed.ts';
import { MultiMap } from '../multi-map.ts';
import type { ObservedWorkload, WorkloadRow } from '../rows.ts';
import { withTemplateOf } from './template-owner.ts';

/**
 * Passes what the streams of workloads show into the cluster state. A workload without its own pod template is joined with the
 * template's owner, and passed again whenever the owner changes, so that the order of the two streams does not matter. The caller
 * lists the kinds that own templates first.
 */
export class WorkloadIntake {
  readonly #clusterState: ClusterState;
  readonly #decision: DecisionSettings;
  /** Workloads without a template of their own, as their stream last showed them. */
  readonly #followers = new Map<WorkloadKey, ObservedWorkload>();
  /** Maps the owner of a template to the workloads that follow it. */
  readonly #byOwner = new MultiMap<WorkloadKey>();

  constructor(clusterState: ClusterState, decision: DecisionSettings) {
    this.#clusterState = clusterState;
    this.#decision = decision;
  }

  found(portion: Portion<ObservedWorkload, WorkloadRow>): void {
    this.#clusterState.workloadsFound({ ...portion, objects: this.#joined(portion.objects) });
    for (const { key } of portion.objects) this.#tellFollowers(key, 'list');
  }

  listed(list: Listed<ObservedWorkload, WorkloadRow>): void {
    for (const _ of this.listEnds(list)) continue;
  }

  /** `listed` in slices, between which other streams may be observed. Yields the workloads that are gone. */
  *listEnds(list: Listed<ObservedWorkload, WorkloadRow>): Generator<readonly WorkloadKey[], void, void> {
    this.found(list);
    let gone: WorkloadKey[] = [];
    const each = (key: WorkloadKey): void => {
      this.#forget(key);
      this.#clusterState.workloadDeleted(key);
      this.#tellFollowers(key, 'list');
      gone.push(key);
    };
    for (const _ of this.#clusterState.eachAbsentWorkload(list, each)) {
      yield gone;
      gone = [];
    }
  }

  /** Drops the workloads that the cluster state has forgotten, after a namespace left the scope. */
  prune(): void {
    for (const key of this.#followers.keys()) if (!this.#clusterState.workloads.has(key)) this.#forget(key);
  }

  written(seen: ObservedWorkload): void {
    this.#remember(seen);
    this.#clusterState.workloadWritten(this.#join(seen));
    this.#tellFollowers(seen.key, 'write');
  }

  deleted(key: WorkloadKey): void {
    this.#forget(key);
    this.#clusterState.workloadDeleted(key);
    this.#tellFollowers(key, 'write');
  }

  #tellFollowers(owner: WorkloadKey, by: 'list' | 'write'): void {
    for (const key of this.#byOwner.get(owner)) {
      // Followers in a namespace that left the scope are skipped.
      const seen = this.#clusterState.workloads.has(key) ? this.#followers.get(key) : undefined;
      if (seen && by === 'write') this.#clusterState.workloadWritten(this.#join(seen));
      else if (seen)
        this.#clusterState.workloadsFound({
          scope: scopeOf(key),
          objects: [this.#join(seen)],
          catalog: NONE,
        });
    }
  }

  #joined(seen: readonly ObservedWorkload[]): ObservedWorkload[] {
    return seen.map((each) => {
      this.#remember(each);
      return this.#join(each);
    });
  }

  #join(seen: ObservedWorkload): ObservedWorkload {
    const owner = seen.templateFrom && this.#clusterState.workloads.get(seen.templateFrom.owner);
    return withTemplateOf(seen, owner, this.#decision);
  }

  #remember(seen: ObservedWorkload): void {
    this.#forget(seen.key);
    if (!seen.templateFrom) return;
    this.#followers.set(seen.key, seen);
    this.#byOwner.add(seen.templateFrom.owner, seen.key);
  }

  #forget(key: WorkloadKey): void {
    const held = this.#followers.get(key);
    if (held?.templateFrom) this.#byOwner.delete(held.templateFrom.owner, key);
    this.#followers.delete(key);
  }
}

const NONE: ReadonlyMap<string, WorkloadRow> = new Map();

function scopeOf(key: WorkloadKey): Scope {
  return { kind: kindOf(key), namespace: namespaceOf(key) };
}
