import { RV_UNKNOWN, isNewer, type Rv } from '../../rv.ts';
import { sameRecords, type ObservedSource, type SourceRow } from '../rows.ts';

/**
 * The row of a source that a list shows. With the same resourceVersion nothing was written, so what was
 * known since when it has its data still holds; with another one the listed one is the latest it can be.
 */
export function listedSource(seen: ObservedSource, known: SourceRow | undefined): SourceRow {
  const unchanged = known !== undefined && known.exists && known.rv === seen.rv;
  return rowOf(seen, unchanged ? known : { dataRv: seen.rv });
}

/** The row of a source, known from before the list, that it no longer shows: deleted at some time up to the list. */
export function absentSource(known: SourceRow, listRv: Rv): SourceRow {
  if (!known.exists) return known;
  return { ...known, rv: listRv, exists: false, modifiedAt: 0 };
}

/**
 * The row after a live write. `listRv` is that of the last list, in which a source never seen was absent.
 * If a creation counts (`onCreate`), it is what its data dates from, the same data as before or not.
 */
export function writtenSource(
  seen: ObservedSource,
  known: SourceRow | undefined,
  by: { listRv: Rv; onCreate: boolean },
): SourceRow {
  if (by.onCreate && !known?.exists) return rowOf(seen, { dataRv: seen.rv, created: true });
  const dataRv = dataRvAfter(seen, known, by.listRv);
  return rowOf(seen, { dataRv, created: known?.exists && known.hash === seen.hash && known.created });
}

/** The row after a live deletion. */
export function deletedSource(known: SourceRow, rv: Rv): SourceRow {
  return { ...known, rv, exists: false, modifiedAt: 0 };
}

export interface SourceChange {
  /** It may begin or end dependencies: it is new here, or its annotations changed. */
  readonly rules: boolean;
  /** Data that was not there before: written, or back after a deletion. */
  readonly data: boolean;
  /** It was there, or may have been, and is no more. */
  readonly gone: boolean;
}

/** What a new row of a source says against the old one; null if nothing that matters to a workload. */
export function sourceChange(old: SourceRow | undefined, row: SourceRow): SourceChange | null {
  const rules = !old || !sameRecords(old.annotations, row.annotations);
  const data = row.exists && (!old?.exists || old.hash !== row.hash);
  const gone = !row.exists && old?.exists !== false;
  return rules || data || gone ? { rules, data, gone } : null;
}

/** The same state of a SecretProviderClass's versions, with annotations of a later write of the class. */
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
  { dataRv, created }: { dataRv: Rv; created?: boolean | undefined },
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
  };
}
