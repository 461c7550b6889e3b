import type { Annotations } from '@reroll/core/model';
import { isRecordInBounds, MOST_RECORD_BYTES, RECORD_ANNOTATION } from '@reroll/core/record/record';
import {
  annotationBytes,
  isRoomFor,
  MOST_ANNOTATION_BYTES,
  RESERVED_ANNOTATION_BYTES,
} from '@reroll/core/reload/annotation-room';
import { JobError } from './job-error.ts';
import type { WorkloadNow } from './reload/workload-reader.ts';

const MOST = MOST_ANNOTATION_BYTES - RESERVED_ANNOTATION_BYTES;

/** Throws a `JobError` if the workload may not get this record: `RecordTooLarge` or `AnnotationsFull`. */
export function requireRoomForRecord({ written, observed }: WorkloadNow, record: string): void {
  if (!isRecordInBounds(record, observed.record)) {
    const given = kib(Buffer.byteLength(record));
    const code = `expected an applied record of at most ${kib(MOST_RECORD_BYTES)}, given at least ${given}`;
    throw new JobError('RecordTooLarge', code, true);
  }
  const { annotations } = written.object.metadata;
  requireRoom('the workload', annotations, { ...annotations, [RECORD_ANNOTATION]: record });
}

/**
 * Returns the record or, if the workload has no room for it, a smaller one, without the times that a limit counts: it is then
 * reloaded all the same. Throws like `requireRoomForRecord` if there is no room for that either.
 */
export function recordWithRoom(workload: WorkloadNow, record: string, smaller: () => string): string {
  const { annotations } = workload.written.object.metadata;
  const after = { ...annotations, [RECORD_ANNOTATION]: record };
  if (isRecordInBounds(record, workload.observed.record) && isRoomFor(annotations, after)) return record;
  const other = smaller();
  requireRoomForRecord(workload, other);
  return other;
}

/** Throws a `JobError` (`AnnotationsFull`) if there are too many annotations after a reload. */
export function requireRoom(
  where: 'the workload' | 'the pod template',
  before: Annotations | undefined,
  after: Annotations | undefined,
): void {
  if (isRoomFor(before, after)) return;
  const given = `${kib(annotationBytes(after))} on ${where} after a reload`;
  const code = `expected at most ${kib(MOST)} of annotations, given ${given}`;
  throw new JobError('AnnotationsFull', code, true);
}

/** Coarse, so that a few bytes do not change the text: each text is reported once a day. */
function kib(bytes: number): string {
  return `${Math.ceil(bytes / 1024)} KiB`;
}
