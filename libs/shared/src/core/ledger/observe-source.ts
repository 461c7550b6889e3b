import { maxRv, type Rv } from '../rv.ts';
import type { ObservedSource, SourceRow } from './rows.ts';

/**
 * The row of a source that a list shows. With the same resourceVersion nothing was written, so what was
 * known since when it has its data still holds; with another one the listed one is the latest it can be.
 */
export function listedSource(seen: ObservedSource, known: SourceRow | undefined): SourceRow {
  const unchanged = known !== undefined && known.exists && known.rv === seen.rv;
  return rowOf(seen, unchanged ? known.dataRv : seen.rv);
}

/** The row of a source that a list no longer shows: deleted at some time up to the list. */
export function absentSource(known: SourceRow, listRv: Rv): SourceRow {
  if (!known.exists) return known;
  return { ...known, rv: maxRv(known.rv, listRv), exists: false, modifiedAt: 0 };
}

/** The row after a live write. `listRv` is that of the last list, in which a source never seen was absent. */
export function writtenSource(seen: ObservedSource, known: SourceRow | undefined, listRv: Rv): SourceRow {
  return rowOf(seen, dataRvAfter(seen, known, listRv));
}

/** The row after a live deletion. */
export function deletedSource(known: SourceRow, rv: Rv): SourceRow {
  return { ...known, rv, exists: false, modifiedAt: 0 };
}

function dataRvAfter(seen: ObservedSource, known: SourceRow | undefined, listRv: Rv): Rv {
  if (!known) return listRv;
  if (known.hash === seen.hash) return known.dataRv;
  return known.exists ? seen.rv : known.rv;
}

function rowOf(seen: ObservedSource, dataRv: Rv): SourceRow {
  return {
    hash: seen.hash,
    rv: seen.rv,
    dataRv,
    exists: true,
    modifiedAt: seen.modifiedAt,
    annotations: seen.annotations,
  };
}
