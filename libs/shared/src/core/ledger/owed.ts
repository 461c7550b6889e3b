import { recordedHashes } from '../record/record.ts';
import { RV_UNKNOWN, isNewer, maxRv, type Rv } from '../rv.ts';
import type { WakeCause } from './outbox.ts';
import type { SourceName, SourceRow, WorkloadRow } from './rows.ts';

/**
 * From which resourceVersion on a source's data counts as new for a workload: that of the template or, for
 * an edge without a record, of its baseline if that is later.
 */
export function reachOf(
  row: Pick<WorkloadRow, 'templateRv' | 'baselines'>,
  name: SourceName,
  recorded: boolean,
): Rv {
  return recorded ? row.templateRv : maxRv(row.templateRv, row.baselines[name] ?? RV_UNKNOWN);
}

/**
 * What the workload is due, as far as the ledger knows: `owed` if data that came after its template is not
 * in its record, `correct` if only its record is behind, `null` if it is settled.
 */
export function dueOf(
  row: WorkloadRow,
  sourceOf: (name: SourceName) => SourceRow | undefined,
): WakeCause | null {
  const record = recordedHashes(row.record);
  let due: WakeCause | null = null;
  for (const name of row.edges) {
    const source = sourceOf(name);
    if (!source?.exists) continue;
    const recorded = record[name];
    const later = isNewer(source.dataRv, reachOf(row, name, recorded !== undefined));
    if (recorded === source.hash && !(later && row.doubtful.includes(name))) continue;
    if (later) return 'owed';
    due = 'correct';
  }
  return due;
}
