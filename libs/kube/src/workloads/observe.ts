import type { AnnotationKeys } from '@reroll/core/annotations/annotation-keys';
import { observeWorkload } from '@reroll/core/state/observe';
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
    },
    keys,
  );
  return from ? { ...seen, templateFrom: { owner: keyOf({ ...from, namespace }), isMarkedThere } } : seen;
}
