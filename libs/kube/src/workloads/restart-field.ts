import { annotationOf, type AnnotationKeys } from '@reroll/core/annotations/annotation-keys';
import type { KubeObject } from '../objects.ts';
import type { WorkloadKindDefinition } from './definition.ts';

/** As in stakater/Reloader: exactly this value, in the workload's own metadata. */
const RESTART = 'restart';

/** Returns the field that restarts a workload; undefined if its pod template is changed instead. */
export function restartField(
  { restartAt }: WorkloadKindDefinition,
  { metadata }: KubeObject,
  { rolloutStrategy }: Pick<AnnotationKeys, 'rolloutStrategy'>,
): WorkloadKindDefinition['restartAt'] {
  return annotationOf(metadata.annotations ?? {}, rolloutStrategy) === RESTART ? restartAt : undefined;
}
