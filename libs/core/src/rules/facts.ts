import type { TypedKeys } from '../annotations/annotation-keys.ts';
import { annotationOf, typedKeys } from '../annotations/annotation-keys.ts';
import type { Annotations } from '../model.ts';
import type { DecisionInput } from './rule.ts';

/** A decision's input, with the annotations that count for this kind of source picked out. */
export interface Facts extends DecisionInput {
  readonly typed: TypedKeys;
  /** Where the four below were read; see `factsOf`. */
  readonly readFrom: 'workload' | 'pod template';
  readonly named: string | undefined;
  readonly search: string | undefined;
  readonly auto: string | undefined;
  readonly typedAuto: string | undefined;
  /** Always of the workload's own metadata. */
  readonly exclude: string | undefined;
}

/**
 * The annotations of the workload's metadata count. Only if not one of the four that ask for a reload
 * exists there, whatever its value, do the pod template's count instead: all four or none, never merged.
 * Since `named` and `typedAuto` are those of the source's kind, an annotation for Secrets does not keep
 * those of the pod template from counting for ConfigMaps.
 */
export function factsOf(input: DecisionInput): Facts {
  const { workload, settings, source } = input;
  const typed = typedKeys(settings.keys, source.kind);
  const own = asking(workload.annotations);
  const isAsked = Object.values(own).some((value) => value !== undefined);
  return {
    ...input,
    typed,
    readFrom: isAsked ? 'workload' : 'pod template',
    ...(isAsked ? own : asking(workload.podAnnotations)),
    exclude: annotationOf(workload.annotations, typed.exclude),
  };

  function asking(annotations: Annotations): Pick<Facts, 'named' | 'search' | 'auto' | 'typedAuto'> {
    return {
      named: annotationOf(annotations, typed.reload),
      search: annotationOf(annotations, settings.keys.search),
      auto: annotationOf(annotations, settings.keys.auto),
      typedAuto: annotationOf(annotations, typed.auto),
    };
  }
}
