import type { AnnotationKeys } from '@reroll/core/annotations/annotation-keys';
import { observeWorkload } from '@reroll/core/state/observe';
import { markerPlaces } from '@reroll/core/marker/marker-places';
import type { HashKeys } from '@reroll/core/record/record-hash';
import type { ObservedWorkload } from '@reroll/core/state/rows';
import { keyOf } from '@reroll/core/model';
import type { KubeObject } from '../objects.ts';
import type { WorkloadKindDefinition } from './definition.ts';
import { restartField } from './restart-field.ts';

/** Reduces an object of this kind to the facts that are kept. Throws a `TypeError` if it has no usable resourceVersion. */
export function observed(
  definition: WorkloadKindDefinition,
  object: KubeObject,
  keys: AnnotationKeys,
): ObservedWorkload {
  const { kind, restartAt, templateStartsPods = true } = definition;
  const template = definition.template(object) ?? {};
  const { namespace } = object.metadata;
  const from = definition.templateFrom?.(object);
  const isMarkedThere = restartField(definition, object, keys) === undefined;
  const seen = observeWorkload(
    {
      kind,
      metadata: object.metadata,
      template,
      restartAt: restartAt?.read(object),
      templateStartsPods,
      paused: definition.isPaused?.(object),
      leftAlone: definition.leftAlone?.(object),
      suspended: definition.isSuspended?.(object),
    },
    keys,
  );
  return from ? { ...seen, templateFrom: { owner: keyOf({ ...from, namespace }), isMarkedThere } } : seen;
}

/**
 * Adds where the markers of the pod template are, if the workload may be patched without being read: a reload needs no more than
 * marker and record, and there is room for both.
 */
export function withMarkerPlaces(
  seen: ObservedWorkload,
  { definition, object }: { readonly definition: WorkloadKindDefinition; readonly object: KubeObject },
  keys: HashKeys,
): ObservedWorkload {
  const isPlain =
    definition.isPatchedUnread === true &&
    definition.isPaused?.(object) !== true &&
    !definition.updateStrategyOnDelete(object);
  if (!isPlain || !hasRoom(seen)) return seen;
  const places = markerPlaces(definition.template(object) ?? {}, seen, keys);
  return places === undefined ? seen : { ...seen, places };
}

/** Whether nothing keeps a marker and another record from being written. */
function hasRoom({ leftAlone, excess, annotationBytes, hasContainers, record }: ObservedWorkload): boolean {
  const isOpen = leftAlone === undefined && excess === undefined && annotationBytes === undefined;
  return isOpen && hasContainers && record !== undefined;
}
