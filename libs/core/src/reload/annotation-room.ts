import type { Annotations } from '../model.ts';

/** The API server's limit for the keys and values of one map of annotations, in bytes. */
export const MOST_ANNOTATION_BYTES = 262_144;

/**
 * Bytes that a patch leaves free. Controllers add annotations to the workload and to copies of its annotations: the Deployment
 * controller writes up to 2 KB of revisions onto each ReplicaSet. A rollout that it cannot begin would be worse than no rollout.
 */
export const RESERVED_ANNOTATION_BYTES = 4_096;

/** Returns the bytes of keys and values together, as the API server counts them. */
export function annotationBytes(annotations: Annotations | undefined): number {
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations ?? {}))
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  return bytes;
}

/** Whether `after` may replace `before`. Annotations that do not grow always may. */
export function isRoomFor(before: Annotations | undefined, after: Annotations | undefined): boolean {
  const bytes = annotationBytes(after);
  return bytes <= MOST_ANNOTATION_BYTES - RESERVED_ANNOTATION_BYTES || bytes <= annotationBytes(before);
}
