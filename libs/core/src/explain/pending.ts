import { canShowDeletion, pendingCauseOfDependency } from '../state/pending.ts';
import type { PendingCause } from '../state/outbox.ts';
import { sourceNameOf, type SourceRow } from '../state/rows.ts';
import { recordedHashes } from '../record/record.ts';
import { DELETED_HASH, isSameScheme, type RecordHash } from '../record/record-hash.ts';
import { planReload, type DependencyFacts, type DependencyVerdict } from '../reload/plan.ts';
import type { ExplainedSource, ExplainInput } from './facts.ts';

/** The data that the pods were last started with, and the current data. */
export interface RecordFacts {
  /** `0.deleted`: reloaded for the source's deletion. Null: not recorded. */
  readonly recorded: RecordHash | null;
  /** Null: the source does not exist, or its hash is not known. */
  readonly current: RecordHash | null;
  /** Null: nothing to compare, or different schemes or keys. */
  readonly agrees: boolean | null;
  /** The record may be wrong for the present pod template, so it counts as different. */
  readonly isUnverified: boolean;
}

/** What this source makes pending for the workload. */
export interface PendingFacts {
  /** By the cluster state; null: nothing, or not known. */
  readonly state: PendingCause | null;
  /** False: the caller cannot tell. */
  readonly isKnown: boolean;
  /** What a worker would decide now. Null: no dependency, or not known. */
  readonly verdict: DependencyVerdict | null;
  /** One sentence, or two. */
  readonly detail: string;
}

export function recordFacts({ workload, source, from }: ExplainInput): RecordFacts {
  const name = sourceNameOf(source.key);
  const recorded = recordedHashes(workload.row.record)[name] ?? null;
  const current = from === 'catalog' && source.row?.exists ? source.row.hash : null;
  const isUnverified = workload.row.unverified.includes(name);
  const both = recorded !== null && current !== null && isComparable(recorded, current);
  return { recorded, current, agrees: both ? recorded === current && !isUnverified : null, isUnverified };
}

const NO_DEPENDENCY = 'Nothing is pending: no change of the source reloads the workload.';
const UNKNOWN =
  'Not known: only the watchers know the data, and when the data and the pod template last changed.';

/** Judges by the cluster state, and by the plan of a worker that reads exactly what the catalog knows. */
export function pendingFacts(input: ExplainInput, isDependency: boolean): PendingFacts {
  const { workload, source, settings, from } = input;
  if (!isDependency) return { state: null, isKnown: true, verdict: null, detail: NO_DEPENDENCY };
  if (from === 'cluster') return { state: null, isKnown: false, verdict: null, detail: UNKNOWN };
  const { recorded } = recordFacts(input);
  const dependency = { name: sourceNameOf(source.key), source: source.row, recorded: recorded ?? undefined };
  const verdict = verdictFor(input, source.row, readingOf(source.row, recorded));
  return {
    state: pendingCauseOfDependency(workload.row, dependency, settings.triggers),
    isKnown: !UNTOLD.has(verdict),
    verdict,
    detail: wordsOf(verdict, source, recorded !== null),
  };
}

/** Returns the plan's verdict for this dependency if the catalog has `row` and a read returns `reading`. */
export function verdictFor(
  { workload, source, settings, sharers }: Omit<ExplainInput, 'from'>,
  row: SourceRow | undefined,
  reading: DependencyFacts['reading'],
): DependencyVerdict {
  const name = sourceNameOf(source.key);
  const { onDelete } = settings.triggers;
  const showsDeletion = canShowDeletion(workload.row, name, onDelete);
  const { verdicts } = planReload({
    workload: workload.row,
    row: workload.row,
    // The pod template's marker is not known here. It would only keep the workload from being listed as stale.
    dependencies: [{ name, row, reading, isMarked: false, showsDeletion }],
    adoptStale: settings.adoptStale,
    onDelete: onDelete !== 'never',
    sharers,
  });
  return verdicts.get(name) ?? 'Absent';
}

/**
 * Returns a reading as if the source had been read now with the catalog's state. Undefined: only the data tells whether the record
 * agrees.
 */
function readingOf(row: SourceRow | undefined, recorded: RecordHash | null): DependencyFacts['reading'] {
  if (!row?.exists || row.isUnwatched) return null;
  if (recorded !== null && !isComparable(recorded, row.hash)) return undefined;
  return { rv: row.rv, hash: row.hash, isRecorded: recorded === row.hash, afterWorkload: true };
}

/** The record of a deletion differs from any data. */
function isComparable(recorded: RecordHash, present: RecordHash): boolean {
  return recorded === DELETED_HASH || isSameScheme(recorded, present);
}

const UNTOLD: ReadonlySet<DependencyVerdict> = new Set(['Read', 'Rewrite', 'KeyUnknown', 'Wait']);

const OTHER_SCHEME =
  'Only a worker that reads the data can tell: the record uses another hash scheme or another key. If no worker has that key, the times of the writes decide after ten minutes.';

const WORDS: Readonly<Record<Exclude<DependencyVerdict, 'Roll' | 'Absent'>, string>> = {
  InStep: 'Nothing is pending: according to the record, the pods were started with the current data.',
  Correct:
    'No reload is pending: the pod template was written after the data changed, so the pods have the data. Only the record will be corrected.',
  Shared:
    'No reload is pending: the pods have the data. The record stays as it is until another Rollout of the Deployment is reloaded.',
  Adopt:
    'No reload is pending: the source is not recorded yet, and nothing shows that it changed since the pods started. It will be recorded.',
  AdoptStale:
    'No reload is pending, although nothing shows whether the pods have the current data. It will be recorded, and listed as stale unless the marker shows that the pods have it.',
  Read: OTHER_SCHEME,
  Rewrite: OTHER_SCHEME,
  KeyUnknown: OTHER_SCHEME,
  Wait: 'Not known yet: the watcher has not yet seen when this source became a dependency of the workload.',
};

function wordsOf(verdict: DependencyVerdict, { row }: ExplainedSource, isRecorded: boolean): string {
  if (verdict === 'Absent') {
    if (row?.isUnwatched) return 'Nothing is pending: the source is not watched.';
    return row
      ? 'Nothing is pending: the source was deleted, which reloads nothing here.'
      : 'Nothing is pending: the watcher has not seen the source.';
  }
  if (verdict !== 'Roll') return WORDS[verdict];
  if (!row?.exists)
    return 'A reload is pending: the source was deleted after the pod template was last written.';
  return isRecorded
    ? 'A reload is pending: the data changed after the pod template was last written, and the record has other data.'
    : 'A reload is pending: the data is newer than the pods and is not recorded.';
}
