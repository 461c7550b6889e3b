import type { OutcomeState } from '@reroll/core/history/entries';
import type { ReloadRequest } from '@reroll/redis/catalog/requests';
import type { RequestState } from '@reroll/core/reload/request';
import { adoptionProblems } from '@reroll/core/adopted/adopted';
import type { AnnotationKeys } from '@reroll/core/annotations/annotation-keys';
import type { ReloadHold } from '@reroll/core/holds/hold';
import type { PassedHold } from '@reroll/core/holds/passed';
import { unusablePatterns } from '@reroll/core/state/workloads/advice';
import { isInConflict, RELEASE_ANNOTATION } from '@reroll/core/state/workloads/conflict';
import type { PatternError } from '@reroll/core/patterns/patterns';
import type { Reason } from '@reroll/core/reasons';
import { pauseWish } from '@reroll/core/reload/pause';
import type { DependencyVerdict, Plan } from '@reroll/core/reload/plan';
import type { JobError } from '../job-error.ts';
import { pauseOf } from './send/patch-template.ts';
import type { Readings } from './reload-plan.ts';
import type { WorkloadNow } from './workload-reader.ts';

/** The outcome of a reload job that did not fail. */
export interface ReloadOutcome {
  readonly state: OutcomeState;
  readonly reason: Reason;
  /** The verdict or reason for each source. */
  readonly sources: Readonly<Record<string, string>>;
  readonly rolled: readonly string[];
  readonly subject?: WorkloadNow;
  readonly patternErrors?: readonly PatternError[];
  /** Harmful remains of another system. */
  readonly leftBehind?: readonly string[];
  /** Why the pause period cannot be used. */
  readonly pauseProblem?: string;
  /** The warning about a conflict. */
  readonly contested?: string;
  /** The warning about a workload without room for a reload; `reason` says what is full. */
  readonly noRoom?: string;
  /** Why the workload, which is pending, is not reloaded now. */
  readonly hold?: ReloadHold | undefined;
  /** Milliseconds for which the rollout was paused. */
  readonly pausedFor?: number;
  /** The manual reload that was requested. */
  readonly request?: ReloadRequest | undefined;
  /** A dry run found nothing new since it reported the reload. Default false. */
  readonly isRepeated?: boolean;
  /** That one is still to be done. Default false. */
  readonly keepsRequest?: boolean;
  /** The workload's generation after the patch. */
  readonly generation?: number | undefined;
}

/** The reason of a job that only wrote the record: that of the first of these verdicts that occurs. */
const RECORDED: readonly (readonly [DependencyVerdict, Reason])[] = [
  ['AdoptStale', 'StaleAtAdoption'],
  ['Correct', 'BroughtByOwner'],
  ['Adopt', 'Adopted'],
  ['Rewrite', 'RecordRewritten'],
];

/** A workload as it was judged, and the plan for it. */
export interface Gathered {
  readonly workload: WorkloadNow;
  readonly readings: Readings;
  readonly plan: Plan;
  /** Why a pending reload is only recorded. */
  readonly heldBack?: Reason | undefined;
  readonly requested: RequestState;
  /** The id of the request, if it replaces pods. */
  readonly request?: string | undefined;
  /** The holds that this request passes. */
  readonly passes?: readonly PassedHold[] | undefined;
}

export interface OutcomeSettings {
  readonly dryRun: boolean;
  readonly keys: AnnotationKeys;
  /** The reason of a reloaded workload; undefined: that of a patched one. */
  readonly reloaded?: Reason | undefined;
}

/** The outcome of a plan that was carried out. */
export function outcomeOf(gathered: Gathered, by: OutcomeSettings): ReloadOutcome {
  const { workload, readings, plan } = gathered;
  const patternErrors = unusablePatterns(workload.observed, by.keys);
  const wish = pauseWish(workload.observed, by.keys);
  const sources = shownVerdicts(plan, readings);
  const done = doneOf(gathered, by, { patternErrors, sources });
  return {
    ...done,
    isRepeated: by.dryRun && done.reason === 'InStep',
    sources,
    rolled: plan.roll,
    subject: workload,
    patternErrors,
    leftBehind: leftBehind(workload, readings, by.keys),
    ...(wish.state === 'unusable' ? { pauseProblem: wish.problem } : {}),
  };
}

type Done = Pick<ReloadOutcome, 'state' | 'reason' | 'pausedFor'>;

function doneOf(
  { workload, plan, heldBack, request, requested }: Gathered,
  by: OutcomeSettings,
  judged: Pick<ReloadOutcome, 'sources' | 'patternErrors'>,
): Done {
  if (plan.roll.length > 0 || request !== undefined) return reloadedOutcome(workload, by);
  if (plan.hashes !== null)
    return { state: by.dryRun ? 'unchanged' : 'recorded', reason: heldBack ?? recordedReason(plan) };
  if (heldBack) return { state: 'unchanged', reason: heldBack };
  if (requested === 'done') return { state: 'unchanged', reason: 'RequestDone' };
  return { state: 'unchanged', reason: unchangedReason(workload, plan, judged) };
}

const NOT_DONE = { state: 'unchanged', sources: {}, rolled: [] } as const;

/** The outcome for a workload in conflict, to which nothing is written. Undefined if there is no conflict. */
export function contestedOutcome(workload: WorkloadNow): ReloadOutcome | undefined {
  const conflict = workload.facts.workload?.conflict;
  if (!isInConflict(conflict)) return undefined;
  const last = new Date((conflict?.strips.at(-1) ?? 0) * 1000).toISOString();
  const contested =
    `Its marker was taken away three times in ten minutes (the last time at ${last}): another controller undoes ` +
    'the reloads. Let it ignore the marker (see the guide). Nothing is reloaded until the pod template or the ' +
    `reload annotations are edited, or ${RELEASE_ANNOTATION} is set to another value`;
  return { ...NOT_DONE, reason: 'Contested', subject: workload, contested };
}

/** The outcome for a workload whose reload is held, to which nothing is written. */
export function heldOutcome({ workload, plan, readings }: Gathered, hold: ReloadHold): ReloadOutcome {
  return {
    ...NOT_DONE,
    reason: hold.reason,
    sources: shownVerdicts(plan, readings),
    subject: workload,
    hold,
  };
}

/** The outcome for a workload that is left to workers with the key of its record. */
export function leftOutcome({ workload, plan, readings }: Gathered): ReloadOutcome {
  return { ...NOT_DONE, reason: 'KeyUnknown', sources: shownVerdicts(plan, readings), subject: workload };
}

/** How an owner makes room for what a reload writes. */
const MENDED_BY = {
  AnnotationsFull: 'annotations are removed',
  RecordTooLarge: 'the workload depends on fewer sources',
} as const;
export type NoRoomReason = keyof typeof MENDED_BY;

/** The outcome for a workload without room, to which nothing was written. Undefined for other errors. */
export function noRoomOutcome(workload: WorkloadNow, { reason, code }: JobError): ReloadOutcome | undefined {
  if (!isNoRoom(reason)) return undefined;
  const noRoom = `${code}. Nothing is reloaded or recorded until ${MENDED_BY[reason]}`;
  return { ...NOT_DONE, reason, subject: workload, noRoom };
}

export function isNoRoom(reason: Reason): reason is NoRoomReason {
  return reason in MENDED_BY;
}

function reloadedOutcome(workload: WorkloadNow, { dryRun, keys, reloaded }: OutcomeSettings): Done {
  if (dryRun) return { state: 'wouldReload', reason: 'WouldReload' };
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
  { observed }: WorkloadNow,
  plan: Plan,
  { patternErrors = [], sources }: Pick<ReloadOutcome, 'sources' | 'patternErrors'>,
): Reason {
  const found = new Set(plan.verdicts.values());
  if (found.size === 0) {
    if (observed.excess) return 'InvalidAnnotation';
    return observed.leftAlone ?? (patternErrors.length > 0 ? 'InvalidPattern' : 'NotAnnotated');
  }
  if (found.has('Wait')) return 'CatalogBehind';
  if (found.has('Shared')) return 'RecordShared';
  if (found.has('InStep')) return 'InStep';
  return Object.values(sources).includes('SourceNotWatched') ? 'SourceNotWatched' : 'SourceAbsent';
}

function shownVerdicts({ verdicts }: Plan, readings: Readings): Record<string, string> {
  return Object.fromEntries(
    [...verdicts].map(([name, verdict]) => [name, shownVerdict(name, verdict, readings)]),
  );
}

function shownVerdict(name: string, verdict: DependencyVerdict, readings: Readings): string {
  const read = readings.get(name);
  return verdict === 'Absent' && read === 'SourceNotWatched' ? 'SourceNotWatched' : verdict;
}

/** Harmful remains of a system that `--adopt` names, on the workload or its sources. */
function leftBehind({ observed }: WorkloadNow, readings: Readings, { adopt = [] }: AnnotationKeys): string[] {
  if (!adopt.includes('wave')) return [];
  const owned = [...readings]
    .filter(([, read]) => typeof read !== 'string' && read.owners.includes(observed.uid))
    .map(([name]) => name)
    .sort();
  return [
    ...adoptionProblems(observed.annotations),
    ...owned.map(
      (name) =>
        `${name} has an ownerReference to the workload, written by Wave: remove it, or deleting the workload deletes ${name}`,
    ),
  ];
}
