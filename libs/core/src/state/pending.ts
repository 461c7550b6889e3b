import { recordedHashes } from '../record/record.ts';
import { envVarName } from '../marker/env-var-name.ts';
import type { SourceKind } from '../model.ts';
import { DELETED_HASH } from '../record/record-hash.ts';
import { RV_UNKNOWN, isNewer, maxRv, type Rv } from '../rv.ts';
import type { PendingCause } from './outbox.ts';
import type { SourceName, SourceRow, WorkloadRow } from './rows.ts';
import { NO_TRIGGERS, type Triggers } from './settings.ts';

/**
 * From which resourceVersion on a source's data counts as new for a workload: that of the template or, for
 * a dependency without a record, of its baseline if that is later.
 */
function reachOf(
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

/** The same of one dependency, by its row. Where a deletion cannot be shown the record stays, so that the source may come back. */
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
  if (!source) return null;
  const { exists, hash } = source;
  if (exists) return pendingFor(row, { name, recorded, exists, hash, since: source.dataRv });
  if (onDelete === 'never' || !canShowDeletion(row, name, onDelete)) return null;
  return pendingFor(row, { name, recorded, exists, hash: DELETED_HASH, since: source.rv });
}

/** A dependency: what the record has of it, and what its source is to whoever asks. */
export interface DependencySeen {
  readonly name: SourceName;
  /** Its entry in the record. */
  readonly recorded: string | undefined;
  readonly exists: boolean;
  /** What the record is to say of it, by the scheme of its entry. */
  readonly hash: string;
  /** Since when that is so: of its data or of its deletion. */
  readonly since: Rv;
}

/**
 * What one dependency makes pending. The watcher asks by its rows and a worker by what it read, and nobody else decides it:
 * `owed` if the pods began before, `correct` if only the record is behind, `null` if nothing. A deleted source that is not
 * recorded yet is judged by its baseline; without one nothing tells that the pods ever had it.
 */
export function pendingFor(
  row: Pick<WorkloadRow, 'templateRv' | 'baselines' | 'unverified'>,
  { name, recorded, exists, hash, since }: DependencySeen,
): PendingCause | null {
  const isLater = isNewer(since, reachOf(row, name, recorded !== undefined));
  if (recorded === hash && !(exists && isLater && row.unverified.includes(name))) return null;
  if (!exists && recorded === undefined && !(isLater && name in row.baselines)) return null;
  return isLater ? 'owed' : 'correct';
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
