import { sourceNameOf, type SourceName } from '../state/rows.ts';
import { namespaceOf, type SourceKey, type WorkloadKey } from '../model.ts';
import type { Reason } from '../reasons.ts';
import { step, TOLD_BEFORE, type Expectation, type Told } from './attribution.ts';
import type { ChangeEntry, JudgedWorkload, OutcomeEntry, RolloutEntry } from './entries.ts';
import {
  compareIds,
  firstIndex,
  millisecondsOf,
  takeDropped,
  type Dropped,
  type StreamId,
} from './stream-id.ts';

/** A change of the history with the outcome for each workload. */
export interface Change extends Omit<ChangeEntry, 'woken' | 'leftAlone'> {
  readonly id: StreamId;
  /** The namespace of the source, or of the workload of a manual reload. Whoever may read it there may read the change. */
  readonly namespace: string;
  readonly pairs: readonly Pair[];
}

/** One workload at one change. */
export interface Pair {
  readonly change: Change;
  readonly workload: WorkloadKey;
  readonly verdict: 'reload' | 'skip';
  readonly reason: Reason;
  readonly detail: string;
  /** The workload's name for the source; null for a manual reload. */
  readonly source: SourceName | null;
  readonly outcome: Outcome | undefined;
  /** Its outcome is lost: neither an outcome nor a job was found. */
  readonly isForgotten: boolean;
}

/** An outcome, the changes that it belongs to (oldest first), and the rollout that it began. */
export interface Outcome extends Told {
  readonly pairs: readonly Pair[];
  /** The last report of the rollout; undefined: none yet. */
  readonly rollout: RolloutEntry | undefined;
  /**
   * Complete without a report: the workload has this generation, and no rollout is under way; or the reload did not change
   * the generation.
   */
  readonly isComplete: boolean;
}

export interface Rollout {
  readonly id: StreamId;
  readonly entry: RolloutEntry;
}

/** The history of one workload; each list is oldest first. */
export interface WorkloadHistory {
  readonly key: WorkloadKey;
  readonly pairs: readonly Pair[];
  readonly outcomes: readonly Outcome[];
}

type Writable<T> = { -readonly [Field in keyof T]: T[Field] };
interface OwnPair extends Writable<Pair> {
  readonly wanted: Expectation;
  outcome: OwnOutcome | undefined;
}
interface OwnOutcome extends Writable<Outcome> {
  pairs: OwnPair[];
}
interface OwnChange extends Change {
  pairs: OwnPair[];
}
interface Workload extends WorkloadHistory {
  readonly pairs: OwnPair[];
  readonly outcomes: OwnOutcome[];
  readonly rollouts: Rollout[];
  /** Pairs whose outcome may still be replaced. */
  readonly waiting: Set<OwnPair>;
  /** Reloads whose rollout has not ended, as far as known. */
  readonly rolling: Set<OwnOutcome>;
}

/**
 * Joins the history: which outcome belongs to which change, and which rollout to which outcome. Entries of one stream are added in
 * order, those of different streams in any order, with the same result. Holds what the streams hold, if the caller reports what
 * they dropped.
 */
export class HistoryJoin {
  readonly #changes: OwnChange[] = [];
  readonly #byId = new Map<StreamId, OwnChange>();
  readonly #bySource = new Map<SourceKey, OwnChange[]>();
  readonly #workloads = new Map<WorkloadKey, Workload>();
  readonly #outcomes: OwnOutcome[] = [];
  readonly #rollouts: Rollout[] = [];
  /**
   * By namespace ('': all): outcomes from this time on (Unix ms by Redis' clock) are present; earlier ones may be missing.
   */
  readonly #outcomesFrom = new Map<string, number>();

  /** Oldest first. */
  get changes(): readonly Change[] {
    return this.#changes;
  }

  change(id: StreamId): Change | undefined {
    return this.#byId.get(id);
  }

  changesOf(source: SourceKey): readonly Change[] {
    return this.#bySource.get(source) ?? [];
  }

  workload(key: WorkloadKey): WorkloadHistory | undefined {
    return this.#workloads.get(key);
  }

  /** Oldest first. */
  get outcomes(): readonly Outcome[] {
    return this.#outcomes;
  }

  get rollouts(): readonly Rollout[] {
    return this.#rollouts;
  }

  /** Returns undefined if the change was added before. */
  addChange(id: StreamId, entry: ChangeEntry): Change | undefined {
    if (isOld(this.#changes, id)) return undefined;
    const { woken, leftAlone, ...rest } = entry;
    const pairs: OwnPair[] = [];
    const [first] = woken;
    const namespace = namespaceOf(entry.source ?? first?.workload ?? '//');
    const change: OwnChange = { ...rest, id, namespace, pairs };
    for (const judged of woken) pairs.push(this.#addPair(change, judged, 'reload'));
    for (const judged of leftAlone) pairs.push(this.#addPair(change, judged, 'skip'));
    this.#changes.push(change);
    this.#byId.set(id, change);
    if (entry.source !== null) listOf(this.#bySource, entry.source).push(change);
    return change;
  }

  addOutcome(id: StreamId, entry: OutcomeEntry): Outcome | undefined {
    if (isOld(this.#outcomes, id)) return undefined;
    const workload = this.#workload(entry.workload);
    const outcome: OwnOutcome = {
      id,
      entry: { ...entry, workload: workload.key },
      pairs: [],
      rollout: undefined,
      // Nothing tells when the rollout of such a reload ends, if it has one.
      isComplete: entry.state === 'reloaded' && entry.generation === undefined,
    };
    this.#outcomes.push(outcome);
    workload.outcomes.push(outcome);
    offerToAll(workload.waiting, outcome);
    if (entry.state === 'reloaded' && !outcome.isComplete) follow(workload, outcome);
    return outcome;
  }

  addRollout(id: StreamId, entry: RolloutEntry): Rollout | undefined {
    if (isOld(this.#rollouts, id)) return undefined;
    const workload = this.#workload(entry.workload);
    const rollout = { id, entry };
    this.#rollouts.push(rollout);
    workload.rollouts.push(rollout);
    for (const outcome of workload.rolling) tell(workload, outcome, rollout);
    return rollout;
  }

  /** Notes that the workload has reached this generation, and that no rollout of it is under way. */
  noteComplete(key: WorkloadKey, generation: number): void {
    const workload = this.#workloads.get(key);
    for (const outcome of workload?.rolling ?? []) {
      if ((outcome.entry.generation ?? 0) > generation) continue;
      outcome.isComplete = true;
      workload?.rolling.delete(outcome);
    }
  }

  /** Notes that the outcome is lost: there is neither an outcome nor a job. */
  noteForgotten(pair: Pair): void {
    (pair as OwnPair).isForgotten = true;
  }

  /** Unix milliseconds from which on no outcome of the namespace is missing. */
  outcomesFrom(namespace: string): number {
    const from = (share: string): number => this.#outcomesFrom.get(share) ?? 0;
    return Math.max(from(''), from(namespace));
  }

  /** Drops the changes before an id; with `one`, only that one. */
  dropChanges(before: StreamId, one?: Dropped): void {
    for (const change of takeDropped(this.#changes, before, one)) {
      this.#byId.delete(change.id);
      if (change.source !== null) this.#dropOfSource(change.source, change);
      for (const pair of change.pairs) this.#dropPair(pair);
    }
  }

  /** The outcomes of changes before that time are lost. */
  dropOutcomes(before: StreamId, one?: Dropped): void {
    const { share = '' } = one ?? {};
    const from = Math.max(this.#outcomesFrom.get(share) ?? 0, millisecondsOf(before));
    if (share === '')
      for (const [name, time] of this.#outcomesFrom) if (time <= from) this.#outcomesFrom.delete(name);
    this.#outcomesFrom.set(share, from);
    for (const outcome of takeDropped(this.#outcomes, before, one)) {
      const workload = this.#workload(outcome.entry.workload);
      remove(workload.outcomes, outcome);
      workload.rolling.delete(outcome);
      for (const pair of outcome.pairs) {
        pair.outcome = undefined;
        pair.isForgotten = true;
        workload.waiting.delete(pair);
      }
      this.#tidy(workload);
    }
  }

  dropRollouts(before: StreamId, one?: Dropped): void {
    for (const rollout of takeDropped(this.#rollouts, before, one)) {
      const workload = this.#workload(rollout.entry.workload);
      remove(workload.rollouts, rollout);
      this.#tidy(workload);
    }
  }

  #dropOfSource(source: SourceKey, change: OwnChange): void {
    const list = listOf(this.#bySource, source);
    remove(list, change);
    if (list.length === 0) this.#bySource.delete(source);
  }

  #addPair(change: OwnChange, judged: JudgedWorkload, verdict: Pair['verdict']): OwnPair {
    const workload = this.#workload(judged.workload);
    const source = change.source === null ? null : sourceNameOf(change.source);
    const pair: OwnPair = {
      change,
      workload: workload.key,
      verdict,
      reason: judged.reason,
      detail: judged.detail,
      source,
      outcome: undefined,
      isForgotten: verdict === 'reload' && millisecondsOf(change.id) < this.outcomesFrom(change.namespace),
      wanted: {
        source,
        since: change.since,
        from: millisecondsOf(change.id) - Math.max(0, change.at - change.since),
        request: change.request?.id,
      },
    };
    workload.pairs.push(pair);
    const waits = verdict === 'reload' && !pair.isForgotten;
    if (waits && !isClosedBy(pair, workload.outcomes)) workload.waiting.add(pair);
    return pair;
  }

  #dropPair(pair: OwnPair): void {
    const workload = this.#workload(pair.workload);
    remove(workload.pairs, pair);
    workload.waiting.delete(pair);
    detach(pair);
    this.#tidy(workload);
  }

  #workload(key: WorkloadKey): Workload {
    const known = this.#workloads.get(key);
    if (known) return known;
    const workload = {
      key,
      pairs: [],
      outcomes: [],
      rollouts: [],
      waiting: new Set<OwnPair>(),
      rolling: new Set<OwnOutcome>(),
    };
    this.#workloads.set(key, workload);
    return workload;
  }

  #tidy({ key, pairs, outcomes, rollouts }: Workload): void {
    if (pairs.length + outcomes.length + rollouts.length === 0) this.#workloads.delete(key);
  }
}

/** Passes once over the waiting pairs, in the order of their changes. */
function offerToAll(waiting: Set<OwnPair>, outcome: OwnOutcome): void {
  const moved = new Set<OwnPair>();
  const left = new Set<OwnOutcome>();
  for (const pair of waiting) {
    const taken = step(pair.wanted, pair.outcome, outcome);
    if (taken === 'close') waiting.delete(pair);
    if (taken !== 'take') continue;
    if (pair.outcome) left.add(pair.outcome);
    moved.add(pair);
  }
  for (const earlier of left) earlier.pairs = earlier.pairs.filter((pair) => !moved.has(pair));
  for (const pair of moved) give(pair, outcome);
}

/** A job can be so quick that its outcome was added before the change. */
function isClosedBy(pair: OwnPair, outcomes: readonly OwnOutcome[]): boolean {
  const earliest = pair.wanted.from - TOLD_BEFORE;
  const first = firstIndex(outcomes, ({ id }) => millisecondsOf(id) >= earliest);
  for (let at = first; at < outcomes.length; at += 1) {
    const outcome = outcomes[at];
    const taken = outcome && step(pair.wanted, pair.outcome, outcome);
    if (taken === 'close') return true;
    if (!outcome || taken !== 'take') continue;
    detach(pair);
    give(pair, outcome);
  }
  return false;
}

/** A change of an earlier id never follows, so appending keeps the order. */
function give(pair: OwnPair, outcome: OwnOutcome): void {
  pair.outcome = outcome;
  pair.isForgotten = false;
  outcome.pairs.push(pair);
}

function detach(pair: OwnPair): void {
  const pairs = pair.outcome?.pairs ?? [];
  const first = firstIndex(pairs, ({ change }) => compareIds(change.id, pair.change.id) >= 0);
  const index = pairs.indexOf(pair, first);
  if (index !== -1) pairs.splice(index, 1);
  pair.outcome = undefined;
}

/** The rollout may have been reported before the outcome. */
function follow(workload: Workload, outcome: OwnOutcome): void {
  workload.rolling.add(outcome);
  const earliest = millisecondsOf(outcome.id) - TOLD_BEFORE;
  const first = firstIndex(workload.rollouts, ({ id }) => millisecondsOf(id) >= earliest);
  for (let at = first; at < workload.rollouts.length && workload.rolling.has(outcome); at += 1) {
    const rollout = workload.rollouts[at];
    if (rollout) tell(workload, outcome, rollout);
  }
}

/** The rollout of this generation or a later one belongs to the reload. A complete rollout stays complete. */
function tell(workload: Workload, outcome: OwnOutcome, { id, entry }: Rollout): void {
  if (!workload.rolling.has(outcome)) return;
  const isEarlier = millisecondsOf(id) < millisecondsOf(outcome.id) - TOLD_BEFORE;
  if (isEarlier || entry.generation < (outcome.entry.generation ?? 0)) return;
  outcome.rollout = entry;
  if (entry.state !== 'complete') return;
  outcome.isComplete = true;
  workload.rolling.delete(outcome);
}

function isOld(list: readonly { readonly id: StreamId }[], id: StreamId): boolean {
  const last = list.at(-1);
  return last !== undefined && compareIds(id, last.id) <= 0;
}

function listOf<Item>(map: Map<string, Item[]>, key: string): Item[] {
  const list = map.get(key) ?? [];
  map.set(key, list);
  return list;
}

/** It is usually the first. */
function remove<Item>(list: Item[], item: Item): void {
  const index = list.indexOf(item);
  if (index !== -1) list.splice(index, 1);
}
