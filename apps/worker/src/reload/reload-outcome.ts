import type { OutcomeState } from '@reroll/core/history/entries';
import type { ReloadRequest } from '@reroll/redis/catalog/requests';
import type { RequestState } from '@reroll/core/reload/request';
import type { AnnotationKeys } from '@reroll/core/annotation-keys';
import { isInConflict, RELEASE_ANNOTATION } from '@reroll/core/state/workloads/conflict';
import type { PatternError } from '@reroll/core/patterns';
import type { Reason } from '@reroll/core/reasons';
import { pauseWish } from '@reroll/core/reload/pause';
import type { DependencyVerdict, Plan } from '@reroll/core/reload/plan';
import type { JobError } from '../job-error.ts';
import { pauseOf } from './pause-of.ts';
import type { Readings } from './reload-plan.ts';
import type { WorkloadNow } from './workload-reader.ts';

/** What came of a reload job that did not fail. */
export interface ReloadOutcome {
  readonly state: OutcomeState;
  readonly reason: Reason;
  /** Verdict or reason, by source. */
  readonly sources: Readonly<Record<string, string>>;
  readonly rolled: readonly string[];
  readonly subject?: WorkloadNow;
  readonly patternErrors?: readonly PatternError[];
  /** What another system left on it that would do harm. */
  readonly leftBehind?: readonly string[];
  /** Why its pause-period cannot be used. */
  readonly pauseProblem?: string;
  /** What its owner is told of a fight over it. */
  readonly contested?: string;
  /** What its owner is told of a workload without room for a reload; `reason` is why. */
  readonly noRoom?: string;
  /** Milliseconds for which its rollout was held back. */
  readonly pausedFor?: number;
  /** A person asked for it. */
  readonly request?: ReloadRequest | undefined;
  /** Of the workload, after the patch. */
  readonly generation?: number | undefined;
}

/** For a job that only wrote the record: the verdict that says most, first. */
const RECORDED: readonly (readonly [DependencyVerdict, Reason])[] = [
  ['AdoptStale', 'StaleAtAdoption'],
  ['Correct', 'BroughtByOwner'],
  ['Adopt', 'Adopted'],
  ['Rewrite', 'RecordRewritten'],
];

export function outcomeOf(by: {
  plan: Plan;
  readings: Readings;
  workload: WorkloadNow;
  dryRun: boolean;
  patternErrors: readonly PatternError[];
  keys: AnnotationKeys;
  /** For a workload that was reloaded; undefined: as a patched one. */
  reloaded?: Reason | undefined;
  /** Why what is pending was only recorded. */
  heldBack?: Reason | undefined;
  /** Pods are replaced because a person asked for it. */
  isRequested: boolean;
  requested: RequestState;
}): Pick<ReloadOutcome, 'state' | 'reason' | 'sources' | 'rolled' | 'pausedFor'> {
  const { plan } = by;
  const sources = Object.fromEntries(
    [...plan.verdicts].map(([name, verdict]) => [name, tell(name, verdict, by.readings)]),
  );
  const rolled = plan.roll;
  if (rolled.length > 0 || by.isRequested) return { ...rolledOutcome(by), sources, rolled };
  if (plan.hashes !== null)
    return {
      state: by.dryRun ? 'unchanged' : 'recorded',
      reason: by.heldBack ?? recordedReason(plan),
      sources,
      rolled,
    };
  const reason = by.heldBack ?? (by.requested === 'done' ? 'RequestDone' : unchangedReason(by, sources));
  return { state: 'unchanged', reason, sources, rolled };
}

const NOT_DONE = { state: 'unchanged', sources: {}, rolled: [] } as const;

/** For a workload over which others fight with us: nothing is written to it. Undefined if there is no fight. */
export function contestedOutcome({ workload }: { workload: WorkloadNow }): ReloadOutcome | undefined {
  const conflict = workload.facts.workload?.conflict;
  if (!isInConflict(conflict)) return undefined;
  const last = new Date((conflict?.strips.at(-1) ?? 0) * 1000).toISOString();
  const contested =
    `Its marker was taken away three times in ten minutes (the last time at ${last}): another controller undoes ` +
    'the reloads. Let it ignore the marker (see the guide). Nothing is reloaded until the pod template or the ' +
    `reload annotations are edited, or ${RELEASE_ANNOTATION} is set to another value`;
  return { ...NOT_DONE, reason: 'Contested', subject: workload, contested };
}

/** What an owner can do about a workload that has no room for what a reload writes. */
const MENDED_BY = {
  AnnotationsFull: 'annotations are removed',
  RecordTooLarge: 'the workload depends on fewer sources',
} as const;
export type NoRoomReason = keyof typeof MENDED_BY;

/** For such a workload: nothing was written to it. Undefined if the error is another one. */
export function noRoomOutcome(workload: WorkloadNow, { reason, code }: JobError): ReloadOutcome | undefined {
  if (!isNoRoom(reason)) return undefined;
  const noRoom = `${code}. Nothing is reloaded or recorded until ${MENDED_BY[reason]}`;
  return { ...NOT_DONE, reason, subject: workload, noRoom };
}

export function isNoRoom(reason: Reason): reason is NoRoomReason {
  return reason in MENDED_BY;
}

function rolledOutcome(by: {
  workload: WorkloadNow;
  dryRun: boolean;
  keys: AnnotationKeys;
  reloaded?: Reason | undefined;
}): Pick<ReloadOutcome, 'state' | 'reason' | 'pausedFor'> {
  const { workload, keys, reloaded } = by;
  if (by.dryRun) return { state: 'wouldReload', reason: 'WouldReload' };
  if (reloaded) return { state: 'reloaded', reason: reloaded };
  const { definition, object, observed } = workload;
  const pausedFor = pauseOf(workload, keys);
  if (pausedFor !== undefined) return { state: 'reloaded', reason: 'ReloadedPaused', pausedFor };
  if (definition.isPaused?.(object)) return { state: 'reloaded', reason: 'ReloadedPaused' };
  if (pauseWish(observed, keys).state === 'unusable')
    return { state: 'reloaded', reason: 'ReloadedWithoutPause' };
  const onDelete = definition.updateStrategyOnDelete(object);
  return { state: 'reloaded', reason: onDelete ? 'ReloadedAwaitingDeletion' : 'Reloaded' };
}

function recordedReason(plan: Plan): Reason {
  const found = new Set(plan.verdicts.values());
  return RECORDED.find(([verdict]) => found.has(verdict))?.[1] ?? 'Adopted';
}

function unchangedReason(
  {
    plan,
    workload,
    patternErrors,
  }: { plan: Plan; workload: WorkloadNow; patternErrors: readonly PatternError[] },
  sources: Readonly<Record<string, string>>,
): Reason {
  const found = new Set(plan.verdicts.values());
  if (found.size === 0) {
    const { excess, leftAlone } = workload.observed;
    if (excess) return 'InvalidAnnotation';
    return leftAlone ?? (patternErrors.length > 0 ? 'InvalidPattern' : 'NotAnnotated');
  }
  if (found.has('Wait')) return 'CatalogBehind';
  if (found.has('InStep')) return 'InStep';
  return Object.values(sources).includes('SourceNotWatched') ? 'SourceNotWatched' : 'SourceAbsent';
}

function tell(name: string, verdict: DependencyVerdict, readings: Readings): string {
  const read = readings.get(name);
  return verdict === 'Absent' && read === 'SourceNotWatched' ? 'SourceNotWatched' : verdict;
}
