import { isHoldReason } from '../holds/hold.ts';
import type { Reason } from '../reasons.ts';
import type { DependencyVerdict } from '../reload/plan.ts';
import { isUndecided, rolls } from './attribution.ts';
import type { Outcome, Pair } from './join.ts';
import { millisecondsOf } from './stream-id.ts';

/**
 * The state of one workload after a change.
 * - `pending`: its job waits for a worker; `delayed`: its job waits for a time, or for a worker with the hash key; `running`: a
 *   worker has it; `retrying`: it failed and will be tried again.
 * - `held`: a hold (freeze, window, approval, limit) keeps it pending.
 * - `reloaded`: patched, and its pods are being replaced; `rolledOut`: they were replaced, or nothing tells when they will be;
 *   `stuck`: the cluster reports that they will not be.
 * - `recorded`: only the record was written; `skipped`: nothing to do, or the rules decided against it; `wouldReload`: a dry run.
 * - `failed`: for good, until a new change, an edit or a manual reload.
 * - `forgotten`: the history has no outcome any more.
 */
export const RELOAD_STATES = [
  'pending',
  'delayed',
  'running',
  'retrying',
  'held',
  'reloaded',
  'rolledOut',
  'stuck',
  'recorded',
  'skipped',
  'wouldReload',
  'failed',
  'forgotten',
] as const;
export type ReloadState = (typeof RELOAD_STATES)[number];

/** A reload job that has not ended. */
export interface LiveJob {
  readonly id: string;
  readonly state: 'waiting' | 'delayed' | 'active';
  /** The earliest start in Unix milliseconds; null: at once. */
  readonly until: number | null;
  readonly made: number;
  readonly most: number;
  /** It looks again at a reload that is held. Default false. */
  readonly isHeld?: boolean;
}

/** Milliseconds after which a change without outcome and job counts as forgotten. */
const FORGOTTEN_AFTER = 60_000;

const REASON_OF: Partial<Record<DependencyVerdict | 'SourceNotWatched', Reason>> = {
  InStep: 'InStep',
  Absent: 'SourceAbsent',
  SourceNotWatched: 'SourceNotWatched',
  Wait: 'CatalogBehind',
  Shared: 'RecordShared',
  KeyUnknown: 'KeyUnknown',
  Correct: 'BroughtByOwner',
  Adopt: 'Adopted',
  AdoptStale: 'StaleAtAdoption',
  Rewrite: 'RecordRewritten',
};
const RECORDED: ReadonlySet<Reason> = new Set([
  'BroughtByOwner',
  'Adopted',
  'StaleAtAdoption',
  'RecordRewritten',
]);

/** Returns the state by the history alone. */
export function stateOf(pair: Pair): ReloadState {
  const { outcome } = pair;
  if (pair.verdict === 'skip') return 'skipped';
  if (!outcome) return pair.isForgotten ? 'forgotten' : 'pending';
  const { state } = outcome.entry;
  if (state === 'retrying' || state === 'failed') return state;
  if (isOwn(pair, outcome)) return outcomeState(outcome);
  if (isUndecided(pair, outcome)) return 'pending';
  return state !== 'unchanged' && RECORDED.has(reasonOf(pair, outcome)) ? 'recorded' : 'skipped';
}

/** Returns the state of an outcome, for any source. */
export function outcomeState(outcome: Outcome): ReloadState {
  const { state, reason } = outcome.entry;
  if (reason === 'KeyUnknown') return 'delayed';
  if (state === 'unchanged') return isHoldReason(reason) ? 'held' : 'skipped';
  if (state !== 'reloaded') return state;
  if (outcome.isComplete) return 'rolledOut';
  return outcome.rollout?.state === 'stuck' ? 'stuck' : 'reloaded';
}

/** Returns the reason of the outcome, for the source of the change; null if there is no outcome yet. */
export function outcomeReason(pair: Pair): Reason | null {
  return pair.outcome ? reasonOf(pair, pair.outcome) : null;
}

function reasonOf(pair: Pair, outcome: Outcome): Reason {
  const { entry } = outcome;
  if (isOwn(pair, outcome) || pair.source === null) return entry.reason;
  const verdict = entry.sources[pair.source];
  if (verdict === undefined) return 'NotAnnotated';
  return REASON_OF[verdict as DependencyVerdict] ?? entry.reason;
}

/** Whether the outcome's own state and reason apply to this source; another source may have caused the reload. */
function isOwn(pair: Pair, outcome: Outcome): boolean {
  const { entry } = outcome;
  if (pair.source === null || rolls(pair, outcome)) return true;
  const verdict = entry.sources[pair.source];
  if (verdict !== undefined) return verdict === 'Roll';
  // The outcome says nothing of this source: it weighed none, or too many to keep all.
  return entry.omitted !== undefined || Object.keys(entry.sources).length === 0;
}

/** Whether the workload's job, if it has one, tells more than the history. */
export function isOpen(pair: Pair): boolean {
  const state = stateOf(pair);
  return state === 'pending' || state === 'retrying' || state === 'forgotten';
}

/** Returns the state of an open pair by its job, `null` if it has none. `now`: Unix milliseconds by Redis' clock. */
export function liveState(pair: Pair, by: { job: LiveJob | null; now: number }): ReloadState {
  const told = stateOf(pair);
  if (!isOpen(pair)) return told;
  const { job } = by;
  if (!job) return told === 'pending' ? jobless(pair, by.now) : told;
  if (job.state === 'active') return 'running';
  // A hold is reported once, also if there are more changes while it lasts.
  if (job.isHeld === true) return 'held';
  if (job.state === 'waiting') return 'pending';
  return job.made > 0 ? 'retrying' : 'delayed';
}

function jobless({ outcome, change }: Pair, now: number): ReloadState {
  if (outcome) return 'skipped';
  return now - millisecondsOf(change.id) > FORGOTTEN_AFTER ? 'forgotten' : 'pending';
}
