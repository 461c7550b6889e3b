import { ADOPTED_LISTS, WAVE_AUTO, adoptedNames } from '../adopted/adopted.ts';
import { annotationOf } from '../annotations/annotation-keys.ts';
import type { Facts } from './facts.ts';
import { pass, reloadIfUsed, reloadNamed, type RuleAnswer } from './rule.ts';

/** Wave's annotation, for sources that are used, and its lists of extra sources. Only with `--adopt=wave`. */
export function adoptedWave({ source, workload, settings }: Facts): RuleAnswer {
  const isOn =
    settings.keys.adopt?.includes('wave') && annotationOf(workload.annotations, WAVE_AUTO) === 'true';
  if (!isOn) return pass(() => 'no annotation of Wave counts');
  if (adoptedNames(workload.annotations, 'wave', source.kind).has(source.name)) {
    const key = ADOPTED_LISTS.wave[source.kind];
    return reloadNamed('AdoptedAnnotation', () => `${key} of the workload lists ${source.name}`);
  }
  return reloadIfUsed('AdoptedAnnotation', () => `the workload has ${WAVE_AUTO}: "true"`);
}
