import { RV_UNKNOWN, isNewer, type Rv } from '../../rv.ts';
import { sameRecords, type ObservedSource, type SourceRow } from '../rows.ts';

/**
 * Returns the row of a source that a list shows. With an unchanged resourceVersion the known `dataRv` still holds; otherwise the
 * listed resourceVersion is the latest that it can be.
 */
export function listedSource(seen: ObservedSource, known: SourceRow | undefined): SourceRow {
  const unchanged = known !== undefined && known.exists && known.rv === seen.rv;
  return rowOf(seen, unchanged ? known : { dataRv: seen.rv });
}

/** Returns the row of a known source that a list no longer shows: it was deleted at some time up to the list. */
export function absentSource(known: SourceRow, listRv: Rv): SourceRow {
  return known.exists ? deletedSource(known, listRv) : known;
}

/** Returns the row of a source that no longer has the labels of the watched ones. `rv` stays that of the last write that was shown. */
export function unwatchedSource(known: SourceRow): SourceRow {
  return { ...known, isUnwatched: true };
}

/**
 * Returns the row after a live write. `listRv` is the resourceVersion of the last list; a source that was never seen was absent
 * there. If creations count (`onCreate`), the data dates from the creation, even if it is the same as before.
 */
export function writtenSource(
  seen: ObservedSource,
  known: SourceRow | undefined,
  by: { listRv: Rv; onCreate: boolean },
): SourceRow {
  if (by.onCreate && !known?.exists) return rowOf(seen, { dataRv: seen.rv, created: true });
  const dataRv = dataRvAfter(seen, known, by.listRv);
  if (!known?.exists) return rowOf(seen, { dataRv, returned: true });
  const { created, returned } = known.hash === seen.hash ? known : {};
  return rowOf(seen, { dataRv, created, returned });
}

export function deletedSource(known: SourceRow, rv: Rv): SourceRow {
  const { isUnwatched: _, ...row } = known;
  return { ...row, rv, exists: false, modifiedAt: 0 };
}

export interface SourceChange {
  /** The source is new here or its annotations changed, so that dependencies may begin or end. */
  readonly rules: boolean;
  /** The source has data that was not there before: written, or back after a deletion. */
  readonly data: boolean;
  /** The source existed, or may have existed, and is deleted. */
  readonly gone: boolean;
  /** The source lost the labels of the watched ones, or has them again. */
  readonly labels: boolean;
}

/** Compares a new row of a source with the old one. */
export function sourceChange(old: SourceRow | undefined, row: SourceRow): SourceChange {
  const rules = !old || !sameRecords(old.annotations, row.annotations);
  const data = row.exists && (!old?.exists || old.hash !== row.hash);
  const gone = !row.exists && old?.exists !== false;
  return { rules, data, gone, labels: old?.isUnwatched !== row.isUnwatched };
}

/** Whether a sighting of a SecretProviderClass has the same versions and the annotations of a later write. */
export function hasNewerClass(seen: ObservedSource, known: SourceRow): boolean {
  if (!seen.providerClass || seen.rv !== known.rv) return false;
  return isNewer(seen.providerClass.rv, known.providerClass?.rv ?? RV_UNKNOWN);
}

function dataRvAfter(seen: ObservedSource, known: SourceRow | undefined, listRv: Rv): Rv {
  if (!known) return listRv;
  if (known.hash === seen.hash) return known.dataRv;
  return known.exists ? seen.rv : known.rv;
}

function rowOf(
  seen: ObservedSource,
  { dataRv, created, returned }: Pick<SourceRow, 'dataRv' | 'created' | 'returned'>,
): SourceRow {
  return {
    hash: seen.hash,
    rv: seen.rv,
    dataRv,
    exists: true,
    modifiedAt: seen.modifiedAt,
    annotations: seen.annotations,
    ...(seen.asCreated ? { asCreated: true } : {}),
    ...(seen.providerClass ? { providerClass: seen.providerClass } : {}),
    ...(created ? { created } : {}),
    ...(returned ? { returned } : {}),
  };
}
