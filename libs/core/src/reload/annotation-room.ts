import type { Annotations } from '../model.ts';

/** The API server refuses an object with more: bytes of the keys and values of one map of annotations. */
export const MOST_ANNOTATION_BYTES = 262_144;

/**
 * Bytes that a patch leaves free. Controllers add annotations of their own, to the workload and to copies of its
 * annotations: the Deployment controller writes up to 2 KB of revisions onto each ReplicaSet, and a rollout that it cannot
 * begin would be worse than one that is not asked for.
 */
export const RESERVED_ANNOTATION_BYTES = 4_096;

/** Bytes of keys and values together, as the API server counts them. */
export function annotationBytes(annotations: Annotations | undefined): number {
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations ?? {}))
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  return bytes;
}

/** Whether annotations may be written in place of others. Writing no more than was there is always possible. */
export function isRoomFor(before: Annotations | undefined, after: Annotations | undefined): boolean {
  const bytes = annotationBytes(after);
  return bytes <= MOST_ANNOTATION_BYTES - RESERVED_ANNOTATION_BYTES || bytes <= annotationBytes(before);
}
