import type { WorkloadKey } from '../../model.ts';
import type { ObservedSource, SourceHashes, SourceRow } from '../rows.ts';

/** The most reloads of a `KnownChange`: its change job names them. */
export const MOST_KNOWN = 8;

/** A change for which the workers need not read the source, because its event showed its hashes (docs/adr/0047). */
export interface KnownChange {
  readonly reading: SourceHashes;
  /** The workloads that need a reload, at most `MOST_KNOWN`. */
  readonly reloads: readonly WorkloadKey[];
}

/** Returns the hashes of a source that an event shows with other data than before, if few workloads use it. */
export function readingOf(
  seen: ObservedSource,
  known: SourceRow | undefined,
  countUsers: () => number,
): SourceHashes | undefined {
  if (!seen.markerHash || !known?.exists || known.hash === seen.hash) return undefined;
  const users = countUsers();
  if (users === 0 || users > MOST_KNOWN) return undefined;
  return { rv: seen.rv, hash: seen.hash, markerHash: seen.markerHash() };
}

/** Undefined if the row is of another write than the reading, or if none or too many workloads need a reload. */
export function knownChange(
  row: SourceRow | undefined,
  reading: SourceHashes | undefined,
  reloads: readonly WorkloadKey[],
): KnownChange | undefined {
  const isFew = reloads.length > 0 && reloads.length <= MOST_KNOWN;
  return isFew && reading !== undefined && row?.rv === reading.rv ? { reading, reloads } : undefined;
}
