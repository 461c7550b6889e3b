import type { Change as ChangeView, ChangeSummary, ChangeWorkload } from '@reroll/shared/api/changes';
import type { HistoryEntry, Workload } from '@reroll/shared/api/workloads';
import { pendingIdIn } from '@reroll/core/holds/approval';
import type { OutcomeEntry, RequestEntry, RolloutEntry } from '@reroll/core/history/entries';
import type { Change, HistoryJoin, Outcome, Pair } from '@reroll/core/history/join';
import {
  outcomeReason,
  outcomeState,
  stateOf,
  type LiveJob,
  type ReloadState,
} from '@reroll/core/history/states';
import { compareIds } from '@reroll/core/history/stream-id';
import { sourceKeyIn } from '@reroll/core/state/rows';
import { namespaceOf, partsOf } from '@reroll/core/model';
import type { ShownHashes } from '../shown-hashes.ts';
import { timeOf } from '../time-of.ts';
import type { Live } from './live-states.ts';

type RolloutView = NonNullable<ChangeWorkload['rollout']>;

/** `pairs`: those that the caller may see. */
export function changeSummary(
  change: Change,
  by: { hashes: ShownHashes; stateOf: (pair: Pair) => ReloadState },
): ChangeSummary {
  const states: Partial<Record<ReloadState, number>> = {};
  for (const pair of change.pairs) {
    const state = by.stateOf(pair);
    states[state] = (states[state] ?? 0) + 1;
  }
  const halted = change.pairs.filter((pair) => isHalted(pair, by.stateOf(pair))).length;
  return { ...facts(change, by.hashes), states, halted };
}

/** Whether the workload waits because another one that has the change has failed. */
export function isHalted(pair: Pair, state: ReloadState): boolean {
  return state === 'held' && outcomeReason(pair) === 'WaveHalted';
}

/** `counted`: see `ChangeView`. */
export function changeView(
  change: Change,
  by: { hashes: ShownHashes; live: Live; join: HistoryJoin; counted: ChangeView['counted'] },
): ChangeView {
  return {
    ...facts(change, by.hashes),
    overtaken: isOvertaken(change, by.join),
    workloads: change.pairs.map((pair) => changeWorkload(pair, by.live)),
    ...(by.counted === undefined ? {} : { counted: by.counted }),
  };
}

function isOvertaken({ id, source, hash }: Change, join: HistoryJoin): boolean {
  if (source === null) return false;
  const later = join.changesOf(source).filter((other) => compareIds(other.id, id) > 0);
  return later.some((other) => other.hash !== hash);
}

function facts(change: Change, hashes: ShownHashes): Omit<ChangeSummary, 'states' | 'halted'> {
  const { id, source, cause, since, at, from, hash, request, more, merged, pairs } = change;
  const [reloaded] = source === null ? pairs : [];
  const shown = (value: string | null): string | null =>
    value === null || source === null ? null : hashes.shown(source, value);
  return {
    id,
    source: source === null ? null : partsOf(source),
    ...(reloaded ? { workload: partsOf(reloaded.workload) } : {}),
    cause,
    seenAt: timeOf(since),
    takenUpAt: timeOf(at),
    from: shown(from),
    to: shown(hash),
    request: request ? requestOf(request) : null,
    ...(more ? { more } : {}),
    ...(merged === undefined ? {} : { merged }),
  };
}

function changeWorkload(pair: Pair, live: Live): ChangeWorkload {
  const state = live.stateOf(pair);
  const { outcome, verdict, reason, detail } = pair;
  const job = live.jobOf(pair.workload);
  const wait = waitOf(pair, state, live);
  return {
    workload: partsOf(pair.workload),
    verdict,
    reason,
    detail: wait?.detail ?? detail,
    state,
    outcome: outcomeReason(pair) ?? wait?.reason ?? null,
    ...(outcome ? { sources: { ...outcome.entry.sources } } : {}),
    until: untilOf(state, outcome, job),
    attempts: attemptsOf(outcome, job),
    error: errorOf(outcome),
    decidedAt: outcome ? timeOf(outcome.entry.at) : null,
    endedAt: endedAt(pair, state),
    rollout: rolloutOf(pair, live),
  };
}

/** What the workload waits for. It is reported once, which may have been before this change. */
function waitOf({ outcome, workload }: Pair, state: ReloadState, live: Live): OutcomeEntry | undefined {
  const told = outcome ?? live.latestOf(workload);
  return told && isWaiting(state) && outcomeState(told) === state ? told.entry : undefined;
}

/** Of what an outcome says why: a hold, or a hash key that is missing. */
function isWaiting(state: ReloadState): boolean {
  return state === 'held' || state === 'delayed';
}

function untilOf(state: ReloadState, outcome: Outcome | undefined, job: LiveJob | undefined): string | null {
  if (state !== 'delayed' && state !== 'retrying') return null;
  const until = job?.until ?? outcome?.entry.next;
  return until === undefined || until === null ? null : timeOf(until);
}

function errorOf(outcome: Outcome | undefined): string | null {
  return outcome?.entry.error ?? null;
}

function attemptsOf(outcome: Outcome | undefined, job: LiveJob | undefined): ChangeWorkload['attempts'] {
  if (outcome) return { made: outcome.entry.attempt, most: outcome.entry.attempts };
  return job ? { made: job.made, most: job.most } : null;
}

/** When the reload ended; null if it has not. */
function endedAt({ outcome, change, verdict }: Pair, state: ReloadState): string | null {
  if (verdict === 'skip') return timeOf(change.at);
  if (!outcome || UNENDED.has(state)) return null;
  return timeOf(state === 'rolledOut' ? (outcome.rollout?.at ?? outcome.entry.at) : outcome.entry.at);
}

const UNENDED: ReadonlySet<ReloadState> = new Set([
  'pending',
  'delayed',
  'running',
  'retrying',
  'held',
  'reloaded',
  'stuck',
]);

function rolloutOf({ outcome, workload }: Pair, live: Live): RolloutView | null {
  if (outcome?.entry.state !== 'reloaded') return null;
  const { generation } = outcome.entry;
  if (generation === undefined) return null;
  const now = outcome.isComplete ? undefined : live.rolloutOf(workload);
  if (now && now.generation >= generation) return rolloutView(now);
  if (outcome.rollout) return rolloutView(outcome.rollout);
  return outcome.isComplete ? { state: 'complete', code: 'Complete', generation, conditions: [] } : null;
}

export function rolloutView(entry: RolloutEntry): RolloutView {
  const { state, code, generation, updated, ready, desired, since, at, conditions, pods } = entry;
  return {
    state,
    code,
    generation,
    updated,
    ready,
    desired,
    since: timeOf(since),
    at: timeOf(at),
    conditions: conditions.map((condition) => ({ ...condition })),
    ...(pods ? { pods: pods.map((pod) => ({ ...pod })) } : {}),
  };
}

const MOST_OTHER_CHANGES = 20;

/** One outcome as an event, with the other changes that it belongs to. */
export function outcomeEvent(outcome: Outcome): HistoryEntry {
  const named = namedPair(outcome);
  const others = outcome.pairs.filter((pair) => pair !== named).slice(0, MOST_OTHER_CHANGES);
  const otherChanges = others.map((pair) => ({ change: pair.change.id, state: stateOf(pair) }));
  return { ...outcomeView(outcome), ...(otherChanges.length === 0 ? {} : { otherChanges }) };
}

/**
 * The first change with the state of the outcome: for a change of another source, a reload may only have corrected the record. Undefined:
 * there is none, or the history has none of the sources that caused the reload.
 */
export function namedPair(outcome: Outcome): Pair | undefined {
  const { entry, pairs } = outcome;
  const state = outcomeState(outcome);
  const named = pairs.find((pair) => stateOf(pair) === state);
  return named ?? (entry.rolled.length > 0 ? undefined : pairs[0]);
}

/** One outcome, with one of the changes that it belongs to. */
export function outcomeView(outcome: Outcome): HistoryEntry {
  const { entry } = outcome;
  const pair = namedPair(outcome);
  const [rolled] = entry.rolled;
  const named = rolled === undefined ? null : sourceKeyIn(namespaceOf(entry.workload), rolled);
  const source = pair ? pair.change.source : named;
  return {
    change: pair?.change.id ?? null,
    source: source === null ? null : partsOf(source),
    cause: pair?.change.cause ?? null,
    workload: partsOf(entry.workload),
    state: outcomeState(outcome),
    reason: entry.reason,
    at: timeOf(entry.at),
    rolled: [...entry.rolled],
    error: errorOf(outcome),
    ...(entry.request ? { request: requestOf(entry.request) } : {}),
  };
}

function requestOf({ actor, reason }: RequestEntry): { actor: string; reason: string } {
  return { actor, reason };
}

/** Why a workload is held or delayed, by its latest outcome; null: it is not. */
export function holdView(latest: Outcome | undefined): Workload['hold'] {
  if (!latest || !isWaiting(outcomeState(latest))) return null;
  const { reason, detail = '' } = latest.entry;
  return { reason, detail, id: (reason === 'AwaitsApproval' ? pendingIdIn(detail) : undefined) ?? null };
}

/** The result of a source's change for one workload; undefined if there is none yet. */
export function pairView(pair: Pair): HistoryEntry | undefined {
  const { change, outcome, workload } = pair;
  const reason = outcomeReason(pair) ?? (pair.verdict === 'skip' ? pair.reason : null);
  if (reason === null) return undefined;
  return {
    change: change.id,
    source: change.source === null ? null : partsOf(change.source),
    cause: change.cause,
    workload: partsOf(workload),
    state: stateOf(pair),
    reason,
    at: timeOf(outcome?.entry.at ?? change.at),
    rolled: [...(outcome?.entry.rolled ?? [])],
    error: errorOf(outcome),
  };
}
