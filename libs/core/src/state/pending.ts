import { recordedHashes } from '../record/record.ts';
import { envVarName } from '../marker/env-var-name.ts';
import type { SourceKind } from '../model.ts';
import { DELETED_HASH } from '../record/record-hash.ts';
import { RV_UNKNOWN, isNewer, maxRv, type Rv } from '../rv.ts';
import type { PendingCause } from './outbox.ts';
import type { SourceName, SourceRow, WorkloadRow } from './rows.ts';
import { NO_TRIGGERS, type Triggers } from './triggers.ts';

/** Why a workload is pending, and when it is enqueued again. */
export interface Pending {
  readonly cause: PendingCause;
  /** How often resyncs have enqueued it since its last evaluation by an event. */
  enqueues: number;
  nextResync: number;
  readonly sinceResync: number;
}

/**
 * From which resourceVersion on a source's data counts as new for a workload: that of the template or, for
 * a dependency without a record, of its baseline if that is later.
 */
export function reachOf(
  row: Pick<WorkloadRow, 'templateRv' | 'baselines'>,
  name: SourceName,
  recorded: boolean,
): Rv {
  return recorded ? row.templateRv : maxRv(row.templateRv, row.baselines[name] ?? RV_UNKNOWN);
}

/**
 * What is pending for the workload, as far as the cluster state knows: `owed` if data that came after its template is not
 * in its record, `correct` if only its record is behind, `null` if it is settled.
 */
export function pendingCauseOf(
  row: WorkloadRow,
  sourceOf: (name: SourceName) => SourceRow | undefined,
  triggers: Triggers = NO_TRIGGERS,
): PendingCause | null {
  // Its Job may be gone by now, and this is all that is left of it.
  if (row.leftAlone === 'JobTwin') return 'owed';
  let pending: PendingCause | null = null;
  const record = recordedHashes(row.record);
  for (const name of row.dependencies) {
    const cause = pendingCauseOfDependency(
      row,
      { name, source: sourceOf(name), recorded: record[name] },
      triggers,
    );
    if (cause === 'owed') return 'owed';
    pending = cause ?? pending;
  }
  return pending;
}

/** The same of one dependency, whose entry in the record is `recorded`. */
export function pendingCauseOfDependency(
  row: WorkloadRow,
  dependency: {
    readonly name: SourceName;
    readonly source: SourceRow | undefined;
    readonly recorded: string | undefined;
  },
  triggers: Triggers,
): PendingCause | null {
  const { name, source, recorded } = dependency;
  if (!source) return null;
  return source.exists
    ? pendingForData(row, { name, source, recorded })
    : pendingForDeletion(row, source, { name, recorded, triggers });
}

function pendingForData(
  row: WorkloadRow,
  dependency: { name: SourceName; source: SourceRow; recorded: string | undefined },
): PendingCause | null {
  const { name, source, recorded } = dependency;
  const later = isNewer(source.dataRv, reachOf(row, name, recorded !== undefined));
  if (recorded === source.hash && !(later && row.unverified.includes(name))) return null;
  return later ? 'owed' : 'correct';
}

/** Where a deletion cannot be shown the record stays, so that the source may come back with other data and roll. */
function pendingForDeletion(
  row: WorkloadRow,
  source: SourceRow,
  by: { name: SourceName; recorded: string | undefined; triggers: Triggers },
): PendingCause | null {
  const { name, recorded, triggers } = by;
  if (triggers.onDelete === 'never' || !canShowDeletion(row, name, triggers.onDelete)) return null;
  return pendingAfterDeletion(row, { name, recorded, deletedAt: source.rv });
}

/**
 * What the deletion of a source at `deletedAt` makes pending, for the watcher and the worker alike: `owed` if the pods
 * began before it, `correct` if only the record is behind, `null` if nothing. A source that is not recorded yet
 * is judged by its baseline; without one nothing tells that the pods ever had it.
 */
export function pendingAfterDeletion(
  row: Pick<WorkloadRow, 'templateRv' | 'baselines'>,
  dependency: { readonly name: SourceName; readonly recorded: string | undefined; readonly deletedAt: Rv },
): PendingCause | null {
  const { name, recorded, deletedAt } = dependency;
  if (recorded === DELETED_HASH || (recorded === undefined && !(name in row.baselines))) return null;
  if (isNewer(deletedAt, reachOf(row, name, recorded !== undefined))) return 'owed';
  return recorded === undefined ? null : 'correct';
}

/** Whether a patch can show that the source is gone: under the env-vars strategy there has to be a variable to take away. */
export function canShowDeletion(
  { marks }: Pick<WorkloadRow, 'marks'>,
  name: SourceName,
  onDelete: Triggers['onDelete'],
): boolean {
  return onDelete === 'always' || (onDelete === 'marked' && marks.includes(variableOf(name)));
}

/** The variable that marks a container with the source. */
function variableOf(name: SourceName): string {
  const slash = name.indexOf('/');
  return envVarName(name.slice(0, slash) as SourceKind, name.slice(slash + 1));
}
