import { sourceNameOf, type SourceName } from '../state/rows.ts';
import { namespaceOf, type SourceKey, type WorkloadKey } from '../model.ts';
import type { Reason } from '../reasons.ts';
import { step, TOLD_BEFORE, type Expectation, type Told } from './attribution.ts';
import type { ChangeEntry, JudgedWorkload, OutcomeEntry, RolloutEntry } from './entries.ts';
import { compareIds, firstIndex, indexOfId, millisecondsOf, type StreamId } from './stream-id.ts';

/** A change of the history, and what became of each workload. */
export interface Change extends Omit<ChangeEntry, 'woken' | 'leftAlone'> {
  readonly id: StreamId;
  /** Of the source, or of the workload that a person reloaded: whoever may see it there may see the change. */
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
  /** What the workload calls the source; null: a person asked. */
  readonly source: SourceName | null;
  readonly outcome: Outcome | undefined;
  /** It has no outcome any more, as somebody found who looked for its job. */
  readonly isForgotten: boolean;
}

/** An outcome, the changes that it belongs to, oldest first, and the rollout that it began. */
export interface Outcome extends Told {
  readonly pairs: readonly Pair[];
  /** As it was last told; undefined: not yet. */
  readonly rollout: RolloutEntry | undefined;
  /** Complete, though nobody told: the workload is at this generation, and nothing is under way. */
  readonly isComplete: boolean;
}

export interface Rollout {
  readonly id: StreamId;
  readonly entry: RolloutEntry;
}

/** What is known of one workload, each list oldest first. */
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
  /** Those whose outcome may still be another one. */
  readonly waiting: Set<OwnPair>;
  /** Reloads of which the end is not known. */
  readonly rolling: Set<OwnOutcome>;
}

/**
 * The history, joined: which outcome belongs to which change, and which rollout to which outcome. Entries of one
 * stream are added in their order, those of different streams in any: the result is the same. It holds what
 * the streams hold, if it is told what they dropped.
 */
export class HistoryJoin {
  readonly #changes: OwnChange[] = [];
  readonly #byId = new Map<StreamId, OwnChange>();
  readonly #bySource = new Map<SourceKey, OwnChange[]>();
  readonly #workloads = new Map<WorkloadKey, Workload>();
  readonly #outcomes: OwnOutcome[] = [];
  readonly #rollouts: Rollout[] = [];
  /** Outcomes from here on (Unix ms by Redis' clock) are there; those of earlier changes may not be. */
  #outcomesFrom = 0;

  /** Oldest first. */
  get changes(): readonly Change[] {
    return this.#changes;
  }

  change(id: StreamId): Change | undefined {
    return this.#byId.get(id);
  }

  /** Of one source, oldest first. */
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

  /** Undefined if it was added before. */
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
      isComplete: false,
    };
    this.#outcomes.push(outcome);
    workload.outcomes.push(outcome);
    offerToAll(workload.waiting, outcome);
    if (entry.state === 'reloaded' && entry.generation !== undefined) follow(workload, outcome);
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

  /** The workload is at this generation or a later one, and no rollout of it is under way. */
  noteComplete(key: WorkloadKey, generation: number): void {
    const workload = this.#workloads.get(key);
    for (const outcome of workload?.rolling ?? []) {
      if ((outcome.entry.generation ?? 0) > generation) continue;
      outcome.isComplete = true;
      workload?.rolling.delete(outcome);
    }
  }

  /** Nobody will tell what came of it: there is neither an outcome nor a job. */
  noteForgotten(pair: Pair): void {
    (pair as OwnPair).isForgotten = true;
  }

  /** Forgets changes before this id. */
  dropChanges(before: StreamId): void {
    for (const change of this.#changes.splice(0, indexOfId(this.#changes, before))) {
      this.#byId.delete(change.id);
      if (change.source !== null) dropFirst(this.#bySource, change.source);
      for (const pair of change.pairs) this.#dropPair(pair);
    }
  }

  /** Of what came of a change before that, nobody knows. */
  dropOutcomes(before: StreamId): void {
    this.#outcomesFrom = Math.max(this.#outcomesFrom, millisecondsOf(before));
    for (const outcome of this.#outcomes.splice(0, indexOfId(this.#outcomes, before))) {
      const workload = this.#workload(outcome.entry.workload);
      workload.outcomes.shift();
      workload.rolling.delete(outcome);
      for (const pair of outcome.pairs) {
        pair.outcome = undefined;
        pair.isForgotten = true;
        workload.waiting.delete(pair);
      }
      this.#tidy(workload);
    }
  }

  dropRollouts(before: StreamId): void {
    for (const { entry } of this.#rollouts.splice(0, indexOfId(this.#rollouts, before))) {
      const workload = this.#workload(entry.workload);
      workload.rollouts.shift();
      this.#tidy(workload);
    }
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
      isForgotten: verdict === 'reload' && millisecondsOf(change.id) < this.#outcomesFrom,
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
    workload.pairs.shift();
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

/** One pass over those that wait, however many took an outcome before it. They wait in the order of their changes. */
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

/** What was told before the change itself: its job can be that quick. */
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

/** No change of an earlier id comes after it: to append keeps the order. */
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

/** The rollout of an outcome may have been told before it. */
function follow(workload: Workload, outcome: OwnOutcome): void {
  workload.rolling.add(outcome);
  const earliest = millisecondsOf(outcome.id) - TOLD_BEFORE;
  const first = firstIndex(workload.rollouts, ({ id }) => millisecondsOf(id) >= earliest);
  for (let at = first; at < workload.rollouts.length && workload.rolling.has(outcome); at += 1) {
    const rollout = workload.rollouts[at];
    if (rollout) tell(workload, outcome, rollout);
  }
}

/** The rollout of this generation, or of a later one, is that of the reload. What is complete stays so. */
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

function dropFirst<Item>(map: Map<string, Item[]>, key: string): void {
  const list = map.get(key);
  list?.shift();
  if (list?.length === 0) map.delete(key);
}
