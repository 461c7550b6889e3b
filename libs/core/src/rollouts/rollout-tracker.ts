import type { RolloutEntry } from '../history/entries.ts';
import type { WorkloadKey } from '../model.ts';
import { takeFrom } from '../take-from.ts';
import { Completions } from './completions.ts';
import type { PodTrouble, RolloutCondition, RolloutStatus } from './rollout.ts';

/** The rollout of a workload at one sighting. */
export interface SeenRollout extends RolloutStatus {
  readonly workload: WorkloadKey;
  readonly generation: number;
  readonly conditions: readonly RolloutCondition[];
}

export interface RolloutChanges {
  /** Under way: to put into the hash. */
  readonly put: readonly RolloutEntry[];
  /** Complete or gone: to remove from the hash. */
  readonly removed: readonly WorkloadKey[];
  /** Newly complete or stuck: for the history. */
  readonly ended: readonly RolloutEntry[];
}

/**
 * Tracks the rollouts that are under way: a pure state machine over what the streams show. It holds only rollouts that are not
 * complete. A rollout begins when the pod template changes; pods that are replaced under the same template are no rollout.
 */
export class RolloutTracker {
  readonly completions = new Completions();
  readonly #tracked = new Map<WorkloadKey, RolloutEntry>();
  readonly #dirty = new Set<WorkloadKey>();
  /** By state and workload, oldest first. While Redis is unreachable, later entries replace earlier ones. */
  #ended = new Map<string, RolloutEntry>();
  #isUrgent = false;

  get tracked(): ReadonlyMap<WorkloadKey, RolloutEntry> {
    return this.#tracked;
  }

  get isDirty(): boolean {
    return this.#dirty.size > 0 || this.#ended.size > 0;
  }

  /** Whether there is more to write than changed counts. */
  get isUrgent(): boolean {
    return this.#isUrgent;
  }

  /**
   * Takes a sighting of a workload that has rollouts. `begins`: its pod template changed, or the workload is new here. `isFirst`: it is
   * new here. Default: it is not.
   */
  seen(
    rollout: SeenRollout,
    { begins, isFirst = false, now }: { begins: boolean; isFirst?: boolean; now: number },
  ): void {
    const { workload, state } = rollout;
    const held = this.#tracked.get(workload);
    if (state === 'complete' && held) this.#complete(rollout, held, now);
    else if (state === 'complete' && begins && !isFirst) this.completions.completed(workload, now);
    else if (state !== 'complete' && begins) this.#begin({ ...entryOf(rollout), since: now, at: now }, held);
    else if (held) this.#goOn(held, rollout, now);
    else this.completions.seen(workload, state, now);
  }

  /** Takes the troubles of a stuck workload's pods. Ignored if the workload is no longer stuck. */
  explained(workload: WorkloadKey, pods: readonly PodTrouble[], now: number): void {
    const held = this.#tracked.get(workload);
    if (held?.state !== 'stuck') return;
    const entry = { ...held, pods, at: now };
    this.#put(entry, true);
    const key = endKey(entry);
    if (this.#ended.has(key)) this.#ended.set(key, entry);
  }

  /** A workload that is deleted has no rollout. */
  gone(workload: WorkloadKey): void {
    this.completions.forget(workload);
    if (this.#tracked.has(workload)) this.#remove(workload);
  }

  /** Drops workloads that no longer exist. */
  prune(isThere: (workload: WorkloadKey) => boolean): void {
    this.completions.prune(isThere);
    for (const workload of this.#tracked.keys()) if (!isThere(workload)) this.#remove(workload);
  }

  /**
   * Merges what the previous leader wrote: rollouts have ended since, workloads are gone, and some rollouts began earlier than this
   * leader knows. `isThere`: whether the workload still exists; undefined: not known yet.
   */
  reconcile(
    written: Iterable<RolloutEntry>,
    by: { isThere: (workload: WorkloadKey) => boolean | undefined; now: number },
  ): void {
    for (const earlier of written) {
      const { workload } = earlier;
      const held = this.#tracked.get(workload);
      if (held) this.#adopt(held, earlier);
      else if (by.isThere(workload) === true) this.#complete(earlier, earlier, by.now);
      else if (by.isThere(workload) === false) this.#remove(workload);
    }
  }

  /** Marks everything for writing again. */
  assertAll(): void {
    for (const workload of this.#tracked.keys()) this.#dirty.add(workload);
    this.#isUrgent = true;
  }

  /** Drops pending writes, because a standby writes nothing. */
  discard(): void {
    this.#dirty.clear();
    this.#ended.clear();
    this.#isUrgent = false;
  }

  /** Whether there is anything to write for these workloads. */
  isDirtyAt(workloads: readonly WorkloadKey[]): boolean {
    return workloads.some((workload) => this.#dirty.has(workload));
  }

  /** Takes at most `most` workloads to write, `first` before the others. The caller gives them back if the write fails. */
  take(most: number, first: readonly WorkloadKey[] = []): RolloutChanges {
    const dirty = first.filter((workload) => this.#dirty.has(workload)).slice(0, most);
    for (const workload of dirty) this.#dirty.delete(workload);
    dirty.push(...takeFrom(this.#dirty, most - dirty.length));
    const ended = [...this.#ended.values()].slice(0, most);
    for (const entry of ended) this.#ended.delete(endKey(entry));
    if (!this.isDirty) this.#isUrgent = false;
    return {
      put: dirty.flatMap((workload) => this.#tracked.get(workload) ?? []),
      removed: dirty.filter((workload) => !this.#tracked.has(workload)),
      ended,
    };
  }

  giveBack({ put, removed, ended }: RolloutChanges): void {
    for (const { workload } of put) this.#dirty.add(workload);
    for (const workload of removed) this.#dirty.add(workload);
    const later = this.#ended.values();
    this.#ended = new Map([...ended, ...later].map((entry) => [endKey(entry), entry]));
    this.#isUrgent = true;
  }

  #begin(entry: RolloutEntry, held: RolloutEntry | undefined): void {
    this.completions.forget(entry.workload);
    this.#put(entry, true);
    if (held?.state === 'progressing' && entry.state === 'stuck') this.#end(entry);
  }

  #goOn(held: RolloutEntry, rollout: SeenRollout, now: number): void {
    const pods = rollout.state === 'stuck' && held.pods ? { pods: held.pods } : {};
    const entry = { ...entryOf(rollout), since: held.since, at: now, ...pods };
    if (isSame(held, entry)) return;
    this.#put(entry, held.state !== entry.state);
    if (held.state !== 'stuck' && entry.state === 'stuck') this.#end(entry);
  }

  #put(entry: RolloutEntry, isUrgent: boolean): void {
    this.#tracked.set(entry.workload, entry);
    this.#dirty.add(entry.workload);
    this.#isUrgent ||= isUrgent;
  }

  #end(entry: RolloutEntry): void {
    const key = endKey(entry);
    this.#ended.delete(key);
    this.#ended.set(key, entry);
  }

  #remove(workload: WorkloadKey): void {
    this.#tracked.delete(workload);
    this.#dirty.add(workload);
    this.#isUrgent = true;
  }

  #complete(rollout: SeenRollout, held: RolloutEntry, now: number): void {
    this.#remove(rollout.workload);
    this.completions.completed(rollout.workload, now);
    const code = rollout.state === 'complete' ? rollout.code : 'Complete';
    this.#end({ ...entryOf(rollout), state: 'complete', code, since: held.since, at: now });
  }

  #adopt(held: RolloutEntry, earlier: RolloutEntry): void {
    const isSameRollout = earlier.generation <= held.generation && earlier.since < held.since;
    const entry = isSameRollout ? { ...withPodsOf(held, earlier), since: earlier.since } : held;
    this.#put(entry, true);
    if (earlier.state !== 'stuck' && entry.state === 'stuck') this.#end(entry);
  }
}

function endKey({ state, workload }: RolloutEntry): string {
  return `${state} ${workload}`;
}

function entryOf(rollout: SeenRollout): Omit<RolloutEntry, 'since' | 'at'> {
  const { workload, generation, state, code, updated, ready, desired, conditions } = rollout;
  return { workload, generation, state, code, updated, ready, desired, conditions };
}

/** Keeps what an earlier leader learned of the pods until they are read again. */
function withPodsOf(held: RolloutEntry, { state, generation, pods }: RolloutEntry): RolloutEntry {
  const areStuck = held.state === 'stuck' && state === 'stuck' && held.generation === generation;
  return areStuck && pods && !held.pods ? { ...held, pods } : held;
}

const FIELDS = ['generation', 'state', 'code', 'updated', 'ready', 'desired'] as const;

function isSame(a: RolloutEntry, b: RolloutEntry): boolean {
  return (
    FIELDS.every((field) => a[field] === b[field]) &&
    a.conditions.length === b.conditions.length &&
    a.conditions.every((each, index) => isSameCondition(each, b.conditions[index]))
  );
}

function isSameCondition(a: RolloutCondition, b: RolloutCondition | undefined): boolean {
  return a.type === b?.type && a.status === b.status && a.reason === b.reason && a.message === b.message;
}
