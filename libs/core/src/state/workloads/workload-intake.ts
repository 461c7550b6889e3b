import { kindOf, namespaceOf, type WorkloadKey } from '../../model.ts';
import type { DecisionSettings } from '../../rules/decision.ts';
import type { ClusterState } from '../cluster-state.ts';
import type { Listed, Portion, Scope } from '../listed.ts';
import { MultiMap } from '../multi-map.ts';
import { NamespaceTurns } from '../namespace-turns.ts';
import type { ObservedWorkload, WorkloadRow } from '../rows.ts';
import { turn } from '../slices.ts';
import { withTemplateOf } from './template-owner.ts';

/** An owner with more followers than this has them told of its writes in later turns. */
const FOLLOWERS_AT_ONCE = 5;
/** The most followers that are told in one turn. */
const FOLLOWERS_PER_TURN = 25;

/**
 * `write`: one write, whose state the owner's row has. `list`: a list, which may hide writes. `events`: several of these, and only the
 * last state is left. The last two are judged alike.
 */
type ToldBy = 'write' | 'list' | 'events';

/** Followers that have not been told yet of what happened to their owner. */
interface Telling {
  readonly by: ToldBy;
  readonly followers: Iterator<WorkloadKey>;
  /** More has happened to the owner since the first of them was told. */
  readonly isAgain: boolean;
}

/**
 * Passes what the streams of workloads show into the cluster state. A workload without its own pod template is joined with the
 * template's owner, and passed again whenever the owner changes, so that the order of the two streams does not matter. The caller
 * lists the kinds that own templates first. Followers of an owner with many, or of one that a list shows, are told in later turns.
 */
export class WorkloadIntake {
  readonly #clusterState: ClusterState;
  readonly #decision: DecisionSettings;
  /** Workloads without a template of their own, as their stream last showed them. */
  readonly #followers = new Map<WorkloadKey, ObservedWorkload>();
  /** Maps the owner of a template to the workloads that follow it. */
  readonly #byOwner = new MultiMap<WorkloadKey>();
  /** By the owner. */
  readonly #telling = new NamespaceTurns<WorkloadKey, Telling>();
  /** Owners that were gone when their followers were told of several events: a later write does not date what these missed. */
  readonly #missed = new Set<WorkloadKey>();
  /** Whether `tellLater` runs, or was asked for. */
  #isTelling = false;
  /** Called when followers wait: run `tellLater` then. */
  onWork: () => void = () => undefined;

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
    this.#tellFirst(seen.key);
    this.#remember(seen);
    this.#clusterState.workloadWritten(this.#join(seen));
    this.#tellFollowers(seen.key, 'write');
  }

  deleted(key: WorkloadKey): void {
    this.#forget(key);
    this.#clusterState.workloadDeleted(key);
    this.#tellFollowers(key, 'write');
  }

  /**
   * Tells the followers that wait, in slices. Namespaces take turns. Anything may be observed between slices: each follower is joined
   * with the owner of that moment.
   */
  *tellLater(): Generator<void, void, void> {
    for (let next = this.#telling.take(); next; next = this.#telling.take()) {
      const [owner, telling] = next;
      if (this.#tellSome(telling)) this.#telling.put(owner, telling);
      else if (telling.isAgain)
        this.#tellInTurns(owner, { by: 'events', followers: this.#byOwner.get(owner) });
      else this.#told(owner, telling.by);
      yield;
    }
    this.#isTelling = false;
  }

  /** Returns whether there are more. */
  #tellSome({ followers, by }: Telling): boolean {
    const isOver = turn();
    for (let told = 0; told < FOLLOWERS_PER_TURN && !isOver(); told += 1) {
      const next = followers.next();
      if (next.done === true) return false;
      this.#tell(next.value, by);
    }
    return true;
  }

  #told(owner: WorkloadKey, by: ToldBy): void {
    if (this.#clusterState.workloads.has(owner)) this.#missed.delete(owner);
    else if (by === 'events' && this.#byOwner.has(owner)) this.#missed.add(owner);
  }

  #tellFollowers(owner: WorkloadKey, event: 'write' | 'list'): void {
    if (!this.#byOwner.has(owner)) return;
    const waiting = this.#telling.get(owner);
    if (waiting) {
      this.#telling.put(owner, { ...waiting, by: 'events', isAgain: true });
      return;
    }
    const by = this.#missed.has(owner) ? 'events' : event;
    const followers = this.#byOwner.get(owner);
    if (event === 'list' || followers.length > FOLLOWERS_AT_ONCE) this.#tellInTurns(owner, { by, followers });
    else {
      for (const key of followers) this.#tell(key, by);
      this.#told(owner, by);
    }
  }

  #tellInTurns(
    owner: WorkloadKey,
    { by, followers }: { by: ToldBy; followers: readonly WorkloadKey[] },
  ): void {
    this.#telling.put(owner, { by, followers: followers.values(), isAgain: false });
    if (this.#isTelling) return;
    this.#isTelling = true;
    this.onWork();
  }

  /** A write of a follower would otherwise date what its owner has brought before. */
  #tellFirst(key: WorkloadKey): void {
    const owner = this.#followers.get(key)?.templateFrom?.owner;
    const telling = owner && this.#telling.get(owner);
    if (telling) this.#tell(key, telling.by);
  }

  #tell(key: WorkloadKey, by: ToldBy): void {
    // Followers in a namespace that left the scope are skipped.
    const seen = this.#clusterState.workloads.has(key) ? this.#followers.get(key) : undefined;
    if (!seen) return;
    if (by === 'write') this.#clusterState.workloadWritten(this.#join(seen));
    else
      this.#clusterState.workloadsFound({
        scope: scopeOf(key),
        objects: [this.#join(seen)],
        catalog: NONE,
      });
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
    const owner = seen.templateFrom?.owner;
    if (owner !== this.#followers.get(seen.key)?.templateFrom?.owner) this.#forget(seen.key);
    if (owner === undefined) return;
    this.#followers.set(seen.key, seen);
    this.#byOwner.add(owner, seen.key);
  }

  #forget(key: WorkloadKey): void {
    const owner = this.#followers.get(key)?.templateFrom?.owner;
    this.#followers.delete(key);
    if (owner === undefined) return;
    this.#byOwner.delete(owner, key);
    if (!this.#byOwner.has(owner)) this.#missed.delete(owner);
  }
}

const NONE: ReadonlyMap<string, WorkloadRow> = new Map();

function scopeOf(key: WorkloadKey): Scope {
  return { kind: kindOf(key), namespace: namespaceOf(key) };
}
