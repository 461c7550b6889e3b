import { annotationOf, type AnnotationKeys } from '@reroll/core/annotations/annotation-keys';
import type { KubeObject } from '../objects.ts';
import type { WorkloadKindDefinition } from './definition.ts';

/** As stakater/Reloader: exactly this value, on the workload's own metadata. */
const RESTART = 'restart';

/** The field by which a workload is to be restarted; undefined: by another pod template. */
export function restartField(
  { restartAt }: WorkloadKindDefinition,
  { metadata }: KubeObject,
  { rolloutStrategy }: Pick<AnnotationKeys, 'rolloutStrategy'>,
): WorkloadKindDefinition['restartAt'] {
  return annotationOf(metadata.annotations ?? {}, rolloutStrategy) === RESTART ? restartAt : undefined;
}
