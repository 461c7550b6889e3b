import type { Source, SourceSummary, Workload, WorkloadSummary } from '@reroll/shared/api/workloads';
import { excessText } from '@reroll/core/annotations/annotation-limits';
import { explain } from '@reroll/core/explain/explain';
import type { ExplainedSource, ExplainedWorkload, ExplainSettings } from '@reroll/core/explain/facts';
import type { HistoryJoin, Outcome } from '@reroll/core/history/join';
import type { LiveJob } from '@reroll/core/history/states';
import type { PendingCause } from '@reroll/core/state/outbox';
import { isInConflict } from '@reroll/core/state/workloads/conflict';
import { sourceKeyIn, sourceNameOf, type WorkloadRow } from '@reroll/core/state/rows';
import { namespaceOf, partsOf, type SourceKey, type WorkloadKey } from '@reroll/core/model';
import { attemptView } from '../history/failures.ts';
import { isStale, staleSources } from '../history/stale.ts';
import { holdView, namedPair } from '../history/views.ts';
import type { ShowHash } from '../shown-hashes.ts';
import { timeOf } from '../time-of.ts';
import type { SourceFacts } from './object-facts.ts';
import type { ListedWorkload } from './object-lists.ts';

type DependencyView = Omit<Workload['sourcesInDetail'][number], 'source'>;

export function workloadSummary(
  { key, row, sources, due, rollout }: ListedWorkload,
  { join, jobs }: { join: HistoryJoin; jobs: ReadonlyMap<WorkloadKey, LiveJob> },
): WorkloadSummary {
  const outcomes = join.workload(key)?.outcomes ?? [];
  const latest = outcomes.at(-1);
  return {
    ...partsOf(key),
    sources,
    due,
    stale: isStale(outcomes),
    // With --recreate-finished-jobs, a finished Job may have sources that reload it.
    leftAlone: (sources === 0 && row.leftAlone) || null,
    contested: isInConflict(row.conflict),
    pausedUntil: row.resumeAt === undefined ? null : timeOf(row.resumeAt),
    hold: isOver(latest, due) ? null : holdView(latest),
    lastAttempt: attemptView(outcomes, { due, job: jobs.get(key) }),
    rollout: rollout?.state ?? 'complete',
    lastReload: lastReload(key, join),
  };
}

/** Whether nothing waits any longer for what the outcome tells of: the end of a hold is not reported if no reload is pending by then. */
function isOver(latest: Outcome | undefined, due: PendingCause | null): boolean {
  if (latest?.entry.request !== undefined) return false;
  return latest?.entry.reason === 'KeyUnknown' ? due === null : due !== 'owed';
}

/** As they are in the catalog, which keeps no list if one is too long. */
export function annotationsView({
  annotations,
  podAnnotations,
  excess,
}: WorkloadRow): Pick<Workload, 'annotations' | 'podAnnotations' | 'excess'> {
  const isOfLists = excess && !excess.inTemplate && !excess.inNamespace;
  return {
    annotations: { ...annotations },
    podAnnotations: { ...podAnnotations },
    ...(isOfLists ? { excess: excessText(excess) } : {}),
  };
}

function lastReload(key: WorkloadKey, join: HistoryJoin): WorkloadSummary['lastReload'] {
  const outcome = join.workload(key)?.outcomes.findLast(({ entry }) => entry.state === 'reloaded');
  if (!outcome) return null;
  const { at, reason, rolled } = outcome.entry;
  const change = namedPair(outcome)?.change.id ?? null;
  // A later rollout, as of another image, is not for these sources.
  return { at: timeOf(at), reason, change, rolled: outcome.isComplete ? [] : [...rolled] };
}

/** Counts the users that each source rolls. A step for each user, which may have thousands of dependencies. */
export function* rolledSteps(
  found: readonly SourceFacts[],
): Generator<void, ReadonlyMap<SourceKey, number>, void> {
  const rolled = new Map<SourceKey, number>();
  const counted = new Set<WorkloadRow>();
  const wanted = new Set(found.map(({ key }) => sourceNameOf(key)));
  for (const { key, users } of found) {
    for (const row of users.values()) {
      if (counted.has(row)) continue;
      counted.add(row);
      for (const name of row.dependencies.filter((each) => wanted.has(each))) {
        const source = sourceKeyIn(namespaceOf(key), name);
        rolled.set(source, (rolled.get(source) ?? 0) + 1);
      }
      yield;
    }
    yield;
  }
  return rolled;
}

/** `rolled`: of `rolledSteps`. */
export function sourceSummary(
  { key, row }: Pick<SourceFacts, 'key' | 'row'>,
  by: { join: HistoryJoin; shown: ShowHash; rolled: ReadonlyMap<SourceKey, number> },
): SourceSummary {
  const exists = row?.exists ?? false;
  return {
    ...partsOf(key),
    exists,
    hash: row && exists ? by.shown(key, row.hash) : null,
    workloads: by.rolled.get(key) ?? 0,
    changedAt: changedAt({ key, row }, by.join),
  };
}

/** From the history, else the time of the last write that the API server reports. */
function changedAt({ key, row }: Pick<SourceFacts, 'key' | 'row'>, join: HistoryJoin): Source['changedAt'] {
  const last = join.changesOf(key).at(-1);
  if (last) return timeOf(last.since);
  return row && row.modifiedAt > 0 ? timeOf(row.modifiedAt * 1000) : null;
}

interface RelatedPair {
  readonly workload: ExplainedWorkload;
  readonly source: ExplainedSource;
}

interface ExplainBy {
  readonly settings: ExplainSettings;
  readonly shown: ShowHash;
  readonly join: HistoryJoin;
}

/** A relation a step: of some workloads it takes milliseconds. `view` adds the names. */
export function* dependencySteps<View>(
  pairs: Iterable<RelatedPair>,
  view: (pair: RelatedPair, view: DependencyView) => View,
  by: ExplainBy,
): Generator<void, View[], void> {
  const views: View[] = [];
  const known = new Map<WorkloadKey, ReadonlySet<string>>();
  for (const pair of pairs) {
    const { key } = pair.workload;
    const stale = known.get(key) ?? staleSources(by.join.workload(key)?.outcomes ?? []);
    known.set(key, stale);
    views.push(view(pair, dependencyView(pair, stale, by)));
    yield;
  }
  return views;
}

/** The relation between a workload and a source. */
function dependencyView(
  pair: RelatedPair,
  stale: ReadonlySet<string>,
  { settings, shown }: ExplainBy,
): DependencyView {
  const { key, row } = pair.source;
  const { reloads, reason, because, use, record, due } = explain({ ...pair, settings, from: 'catalog' });
  const show = (hash: string | null): string | null => (hash === null ? null : shown(key, hash));
  return {
    how: use.used ? 'used' : use.mentioned ? 'mentioned' : 'named',
    rolls: reloads,
    reason,
    detail: because,
    recorded: show(record.recorded),
    current: show(record.current),
    exists: row?.exists ?? false,
    due: due.state,
    stale: stale.has(sourceNameOf(key)),
  };
}
