import { kindOf, namespaceOf, type WorkloadKey } from '../../model.ts';
import type { DecisionSettings } from '../../rules/decision.ts';
import type { ClusterState } from '../cluster-state.ts';
import type { Listed, Portion, Scope } from '../listed.ts';
import { sameLists, type ObservedWorkload, type WorkloadRow } from '../rows.ts';
import { TemplateFollowers } from './template-followers.ts';
import { sharersOf, withTemplateOf } from './template-owner.ts';

/**
 * Passes what the streams of workloads show into the cluster state. A workload without its own pod template is joined with the
 * template's owner, and passed again whenever the owner changes, so that the order of the two streams does not matter. The caller
 * lists the kinds that own templates first.
 */
export class WorkloadIntake {
  readonly #clusterState: ClusterState;
  readonly #decision: DecisionSettings;
  readonly #followers = new TemplateFollowers<ObservedWorkload>();

  constructor(clusterState: ClusterState, decision: DecisionSettings) {
    this.#clusterState = clusterState;
    this.#decision = decision;
  }

  found(portion: Portion<ObservedWorkload, WorkloadRow>): void {
    const owners = portion.objects.flatMap((each) => this.#ownersAt(each));
    const next = portion.objects.flatMap((each) => this.#followers.put(each, each) ?? []);
    const objects = portion.objects.map((each) => this.#join(each));
    this.#clusterState.workloadsFound({ ...portion, objects });
    for (const { key } of portion.objects) this.#tellFollowers(key, 'list');
    for (const key of next) this.#beginToFollow(key);
    for (const owner of new Set(owners)) this.#tellSharers(owner);
  }

  listed(list: Listed<ObservedWorkload, WorkloadRow>): void {
    for (const _ of this.listEnds(list)) continue;
  }

  /** `listed` in slices, between which other streams may be observed. Yields the workloads that are gone. */
  *listEnds(list: Listed<ObservedWorkload, WorkloadRow>): Generator<readonly WorkloadKey[], void, void> {
    this.found(list);
    let gone: WorkloadKey[] = [];
    const each = (key: WorkloadKey): void => {
      this.#gone(key, 'list');
      gone.push(key);
    };
    for (const _ of this.#clusterState.eachAbsentWorkload(list, each)) {
      yield gone;
      gone = [];
    }
  }

  /** Drops the workloads that the cluster state has forgotten, after a namespace left the scope. */
  prune(): void {
    this.#followers.prune((key) => this.#clusterState.workloads.has(key));
  }

  written(seen: ObservedWorkload): void {
    const owners = this.#ownersAt(seen);
    const next = this.#followers.put(seen, seen);
    this.#clusterState.workloadWritten(this.#join(seen));
    this.#tellFollowers(seen.key, 'write');
    this.#beginToFollow(next);
    for (const owner of owners) this.#tellSharers(owner);
  }

  deleted(key: WorkloadKey): void {
    this.#gone(key, 'write');
  }

  #gone(key: WorkloadKey, by: 'list' | 'write'): void {
    const owner = this.#followers.get(key)?.templateFrom?.owner;
    const next = this.#followers.forget(key);
    this.#clusterState.workloadDeleted(key);
    this.#tellFollowers(key, by);
    this.#beginToFollow(next);
    if (owner) this.#tellSharers(owner);
  }

  /** Returns the owners of the pod template before this sighting and after it, if other workloads then share another record. */
  #ownersAt(seen: ObservedWorkload): WorkloadKey[] {
    const [was, is] = [this.#followers.get(seen.key)?.templateFrom, seen.templateFrom];
    if (was?.owner === is?.owner && was?.isMarkedThere === is?.isMarkedThere) return [];
    return [was, is].flatMap((each) => each?.owner ?? []);
  }

  /** Passes the followers again whose rows do not say with whom they share the record now. */
  #tellSharers(owner: WorkloadKey): void {
    for (const seen of this.#followers.of(owner)) {
      const row = this.#clusterState.workloads.get(seen.key);
      if (row && !sameLists(sharersOf(row), this.#sharersOf(seen))) this.#find(seen);
    }
  }

  #tellFollowers(owner: WorkloadKey, by: 'list' | 'write'): void {
    for (const seen of this.#followers.of(owner)) {
      // Followers in a namespace that left the scope are skipped.
      if (!this.#clusterState.workloads.has(seen.key)) continue;
      if (by === 'write') this.#clusterState.workloadWritten(this.#join(seen));
      else this.#find(seen);
    }
  }

  /** The owner's template may have changed while the workload did not follow it, as before a list. */
  #beginToFollow(key: WorkloadKey | undefined): void {
    const seen = key && this.#clusterState.workloads.has(key) ? this.#followers.get(key) : undefined;
    if (seen) this.#find(seen);
  }

  #find(seen: ObservedWorkload): void {
    this.#clusterState.workloadsFound({
      scope: scopeOf(seen.key),
      objects: [this.#join(seen)],
      catalog: NONE,
    });
  }

  #join(seen: ObservedWorkload): ObservedWorkload {
    const { templateFrom, ...own } = seen;
    if (!templateFrom) return seen;
    if (!this.#followers.isFollowing(seen.key)) return { ...own, leftAlone: 'TooManyRollouts' };
    const owner = this.#clusterState.workloads.get(templateFrom.owner);
    const sharers = this.#sharersOf(seen);
    const from = sharers.length === 0 ? templateFrom : { ...templateFrom, sharers };
    return withTemplateOf({ ...own, templateFrom: from }, owner, this.#decision);
  }

  #sharersOf({ key, templateFrom }: ObservedWorkload): WorkloadKey[] {
    const followers = templateFrom?.isMarkedThere ? this.#followers.of(templateFrom.owner) : [];
    const sharers = followers.filter((each) => each.key !== key && each.templateFrom?.isMarkedThere);
    return sharers.map((each) => each.key);
  }
}

const NONE: ReadonlyMap<string, WorkloadRow> = new Map();

function scopeOf(key: WorkloadKey): Scope {
  return { kind: kindOf(key), namespace: namespaceOf(key) };
}
