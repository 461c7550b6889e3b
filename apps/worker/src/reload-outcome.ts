import type { OutcomeState } from '@reroll/shared/catalog/history';
import type { PatternError } from '@reroll/shared/core/patterns';
import type { Reason } from '@reroll/shared/core/reasons';
import type { EdgeVerdict, Plan } from '@reroll/shared/core/reload/plan';
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
}

/** For a job that only wrote the record: the verdict that says most, first. */
const RECORDED: readonly (readonly [EdgeVerdict, Reason])[] = [
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
  /** For a workload that was reloaded; undefined: as a patched one. */
  reloaded?: Reason | undefined;
  /** Why what is owed was only recorded. */
  heldBack?: Reason | undefined;
}): Pick<ReloadOutcome, 'state' | 'reason' | 'sources' | 'rolled'> {
  const { plan } = by;
  const sources = Object.fromEntries(
    [...plan.verdicts].map(([name, verdict]) => [name, tell(name, verdict, by.readings)]),
  );
  const rolled = plan.roll;
  if (rolled.length > 0) return { ...rolledOutcome(by), sources, rolled };
  if (plan.hashes !== null)
    return {
      state: by.dryRun ? 'unchanged' : 'recorded',
      reason: by.heldBack ?? recordedReason(plan),
      sources,
      rolled,
    };
  return { state: 'unchanged', reason: unchangedReason(plan, sources, by.patternErrors), sources, rolled };
}

function rolledOutcome(by: {
  workload: WorkloadNow;
  dryRun: boolean;
  reloaded?: Reason | undefined;
}): Pick<ReloadOutcome, 'state' | 'reason'> {
  const { workload, dryRun, reloaded } = by;
  if (dryRun) return { state: 'wouldReload', reason: 'WouldReload' };
  if (reloaded) return { state: 'reloaded', reason: reloaded };
  const onDelete = workload.definition.updateStrategyOnDelete(workload.object);
  return { state: 'reloaded', reason: onDelete ? 'ReloadedAwaitingDeletion' : 'Reloaded' };
}

function recordedReason(plan: Plan): Reason {
  const found = new Set(plan.verdicts.values());
  return RECORDED.find(([verdict]) => found.has(verdict))?.[1] ?? 'Adopted';
}

function unchangedReason(
  plan: Plan,
  sources: Readonly<Record<string, string>>,
  patternErrors: readonly PatternError[],
): Reason {
  const found = new Set(plan.verdicts.values());
  if (found.size === 0) return patternErrors.length > 0 ? 'InvalidPattern' : 'NotAnnotated';
  if (found.has('Wait')) return 'CatalogBehind';
  if (found.has('InStep')) return 'InStep';
  return Object.values(sources).includes('SourceNotWatched') ? 'SourceNotWatched' : 'SourceAbsent';
}

function tell(name: string, verdict: EdgeVerdict, readings: Readings): string {
  const read = readings.get(name);
  return verdict === 'Absent' && read === 'SourceNotWatched' ? 'SourceNotWatched' : verdict;
}
