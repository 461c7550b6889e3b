import type { TypedKeys } from '../annotations/annotation-keys.ts';
import { annotationOf, typedKeys } from '../annotations/annotation-keys.ts';
import type { Annotations } from '../model.ts';
import type { DecisionInput } from './rule.ts';

type Asking = Pick<Facts, 'named' | 'search' | 'auto' | 'typedAuto'>;

/** A decision's input, with the annotations for this kind of source picked out. */
export interface Facts extends DecisionInput {
  readonly typed: TypedKeys;
  /** Where the next four were read; see `factsOf`. The workload if they are nowhere. */
  readonly readFrom: 'workload' | 'pod template';
  readonly named: string | undefined;
  readonly search: string | undefined;
  readonly auto: string | undefined;
  readonly typedAuto: string | undefined;
  /** Always from the workload's own metadata. */
  readonly exclude: string | undefined;
}

/**
 * Reads the annotations of the workload's metadata. Only if none of the four that ask for a reload exists there, with any value,
 * are those of the pod template read instead: all four or none, never merged. Since `named` and `typedAuto` depend on the source's
 * kind, an annotation for Secrets in the metadata does not hide the pod template's annotations for ConfigMaps.
 */
export function factsOf(input: DecisionInput): Facts {
  const { workload, settings, source } = input;
  const typed = typedKeys(settings.keys, source.kind);
  const own = asking(workload.annotations);
  const read = isAny(own) ? own : asking(workload.podAnnotations);
  return {
    ...input,
    typed,
    readFrom: read === own || !isAny(read) ? 'workload' : 'pod template',
    ...read,
    exclude: annotationOf(workload.annotations, typed.exclude),
  };

  function asking(annotations: Annotations): Asking {
    return {
      named: annotationOf(annotations, typed.reload),
      search: annotationOf(annotations, settings.keys.search),
      auto: annotationOf(annotations, settings.keys.auto),
      typedAuto: annotationOf(annotations, typed.auto),
    };
  }
}

function isAny({ named, search, auto, typedAuto }: Asking): boolean {
  return named !== undefined || search !== undefined || auto !== undefined || typedAuto !== undefined;
}
