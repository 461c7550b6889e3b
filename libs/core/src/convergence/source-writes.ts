import type { ObjectMeta } from '../model.ts';
import { isRv, RV_UNKNOWN, type Rv } from '../rv.ts';
import { lastWrite, unixSeconds } from '../state/observe.ts';

/** What the metadata of a source tell of its writes. Times are Unix seconds, rounded down. */
export interface SourceWrites {
  /** Of the last write of any kind. */
  readonly rv: Rv;
  readonly createdAt: number;
  /** The last write that may have changed data. Undefined: nothing tells. */
  readonly dataAt: number | undefined;
  /** The last write of any kind that left a time. */
  readonly lastAt: number;
  /** A kubelet does not refresh what is immutable, also if it was deleted and created again. */
  readonly mayBeImmutable: boolean;
}

/** A Secret that was applied with `stringData` has that in its managedFields, too. */
const DATA_FIELDS = ['f:data', 'f:binaryData', 'f:stringData'];

/**
 * Reads managedFields. An entry has the time of its manager's last write of any field, so a label that a manager of data writes
 * counts as data. If no entry has data, somebody removed entries, and every write counts. A write that only removes keys leaves no
 * time at all.
 */
export function sourceWrites(metadata: ObjectMeta): SourceWrites {
  const entries = metadata.managedFields ?? [];
  const createdAt = unixSeconds(metadata.creationTimestamp);
  const ofData = entries.filter(
    ({ fieldsV1 }) => fieldsV1 === undefined || DATA_FIELDS.some((field) => field in fieldsV1),
  );
  const times = (ofData.length > 0 ? ofData : entries).map(({ time }) => unixSeconds(time));
  const isDated = times.length > 0 && times.every((time) => time > 0);
  return {
    rv: isRv(metadata.resourceVersion) ? metadata.resourceVersion : RV_UNKNOWN,
    createdAt,
    dataAt: isDated ? Math.max(createdAt, ...times) : undefined,
    lastAt: lastWrite(metadata),
    mayBeImmutable: entries.some(({ fieldsV1 }) => fieldsV1 !== undefined && 'f:immutable' in fieldsV1),
  };
}
