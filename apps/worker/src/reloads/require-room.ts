import {
  annotationBytes,
  isRoomFor,
  MOST_ANNOTATION_BYTES,
  RESERVED_ANNOTATION_BYTES,
} from '@reroll/shared/core/reload/annotation-room';
import { patched, type PatchOperation } from '@reroll/shared/core/reload/json-patch';
import type { KubeObject } from '@reroll/shared/kube/objects';
import type { WorkloadKindDefinition } from '@reroll/shared/kube/workloads/definition';
import { JobError } from '../job-error.ts';

const EXPECTED = MOST_ANNOTATION_BYTES - RESERVED_ANNOTATION_BYTES;

/** Throws a `JobError` (`AnnotationsFull`) if a patch would leave an object with too many bytes of annotations. */
export function requireRoom(
  object: KubeObject,
  patch: readonly PatchOperation[],
  { template }: Pick<WorkloadKindDefinition, 'template'>,
): void {
  const next = patched(object, patch);
  const maps = [
    ['the workload', object.metadata.annotations, next.metadata.annotations],
    ['the pod template', template(object)?.metadata?.annotations, template(next)?.metadata?.annotations],
  ] as const;
  for (const [where, before, after] of maps) {
    if (isRoomFor(before, after)) continue;
    const given = `${annotationBytes(after)} bytes of annotations on ${where}, those of the reload included`;
    throw new JobError('AnnotationsFull', `expected at most ${EXPECTED}, given ${given}`, true);
  }
}
