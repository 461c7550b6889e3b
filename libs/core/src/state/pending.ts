import { recordedHashes } from '../record/record.ts';
import { envVarName } from '../marker/env-var-name.ts';
import type { SourceKind } from '../model.ts';
import { DELETED_HASH } from '../record/record-hash.ts';
import { RV_UNKNOWN, isNewer, maxRv, type Rv } from '../rv.ts';
import { among } from './among.ts';
import type { PendingCause } from './outbox.ts';
import type { SourceName, SourceRow, WorkloadRow } from './rows.ts';
import { NO_TRIGGERS, type Triggers } from './settings.ts';
import { work } from '../work.ts';

/**
 * The resourceVersion after which a source's data counts as new for a workload: templateRv or, for a dependency without a record,
 * its baseline if that is later.
 */
function reachOf(
  row: Pick<WorkloadRow, 'templateRv' | 'baselines'>,
  name: SourceName,
  recorded: boolean,
): Rv {
  return recorded ? row.templateRv : maxRv(row.templateRv, row.baselines[name] ?? RV_UNKNOWN);
}

/**
 * Returns what is pending for the workload: `owed` if data that is newer than its pod template is not in its record, `correct` if
 * only the record is behind, `null` if the workload is settled.
 */
export function pendingCauseOf(
  row: WorkloadRow,
  sourceOf: (name: SourceName) => SourceRow | undefined,
  triggers: Triggers = NO_TRIGGERS,
): PendingCause | null {
  // The Job may be deleted by now, so that its pending Job is all that remains.
  if (row.leftAlone === 'JobTwin') return 'owed';
  if (row.dependencies.length === 0) return null;
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

/**
 * Returns what one dependency makes pending, by the rows: nothing while the source is not watched. If a deletion cannot be shown, the
 * record stays, because the source may come back.
 */
export function pendingCauseOfDependency(
  row: WorkloadRow,
  dependency: {
    readonly name: SourceName;
    readonly source: SourceRow | undefined;
    readonly recorded: string | undefined;
  },
  { onDelete }: Triggers,
): PendingCause | null {
  const { name, source, recorded } = dependency;
  if (!source || source.isUnwatched) return null;
  const { exists, hash } = source;
  if (exists)
    return pendingFor(row, { name, recorded, exists, hash, since: source.dataRv, returned: source.returned });
  if (onDelete === 'never' || !canShowDeletion(row, name, onDelete)) return null;
  return pendingFor(row, { name, recorded, exists, hash: DELETED_HASH, since: source.rv });
}

/** A dependency as the caller knows it: its entry in the record, and the state of its source. */
export interface DependencySeen {
  readonly name: SourceName;
  /** The entry of the source in the record. */
  readonly recorded: string | undefined;
  readonly exists: boolean;
  /** The entry that the record needs, in the scheme of the present entry. */
  readonly hash: string;
  /** The resourceVersion of the data or of the deletion. */
  readonly since: Rv;
  /** See `SourceRow.returned`. */
  readonly returned?: boolean | undefined;
}

/**
 * Returns what one dependency makes pending: `owed` if the pods are older than the data, `correct` if only the record is behind,
 * `null` if nothing. The watcher calls it with its rows and a worker with what it read; nothing else makes this decision. A deleted
 * source without a record is judged by its baseline; without a baseline, nothing shows that the pods ever had it. If creations do
 * not count, a source that returned after its deletion was recorded reloads nothing until its data changes. Dates alone could not tell
 * for a CronJob, because no resourceVersion dates its pods.
 */
export function pendingFor(
  row: Pick<WorkloadRow, 'templateRv' | 'baselines' | 'unverified'>,
  dependency: DependencySeen,
): PendingCause | null {
  const { name, recorded, exists, hash } = dependency;
  const isLater = isLaterThanPods(row, dependency);
  if (recorded === hash && !(exists && isLater && isUnverified(row, name))) return null;
  if (!exists && recorded === undefined && !(isLater && name in row.baselines)) return null;
  return isLater ? 'owed' : 'correct';
}

/** The list that was asked about last: callers ask about one dependency of a workload after the other. */
let asked:
  | { readonly unverified: readonly SourceName[]; readonly isAmong: ReturnType<typeof among> }
  | undefined;

/** Whether the entry of the record may be wrong for the present pods. */
export function isUnverified({ unverified }: Pick<WorkloadRow, 'unverified'>, name: SourceName): boolean {
  if (asked?.unverified !== unverified) {
    work.dependencyNames += unverified.length;
    asked = { unverified, isAmong: among(unverified) };
  }
  return asked.isAmong(name);
}

function isLaterThanPods(
  row: Pick<WorkloadRow, 'templateRv' | 'baselines'>,
  { name, recorded, since, returned }: DependencySeen,
): boolean {
  if (returned === true && recorded === DELETED_HASH) return false;
  return isNewer(since, reachOf(row, name, recorded !== undefined));
}

/** Whether a patch can show that the source is gone. The env-vars strategy needs a variable to remove. */
export function canShowDeletion(
  { marks }: Pick<WorkloadRow, 'marks'>,
  name: SourceName,
  onDelete: Triggers['onDelete'],
): boolean {
  return onDelete === 'always' || (onDelete === 'marked' && marks.includes(variableOf(name)));
}

/** Returns the name of the variable that marks a container with the source. */
function variableOf(name: SourceName): string {
  const slash = name.indexOf('/');
  return envVarName(name.slice(0, slash) as SourceKind, name.slice(slash + 1));
}
