import { ADOPTED_LISTS, adoptedNames } from '../adopted/adopted.ts';
import type { Facts } from './facts.ts';
import { pass, reloadNamed, type RuleAnswer } from './rule.ts';

/** ConfigmapController's list of ConfigMaps, whether used or not. Only with `--adopt=fabric8`. */
export function adoptedFabric8({ source, workload, settings }: Facts): RuleAnswer {
  const names = settings.keys.adopt?.includes('fabric8')
    ? adoptedNames(workload.annotations, 'fabric8', source.kind)
    : undefined;
  const key = ADOPTED_LISTS.fabric8.ConfigMap;
  return names?.has(source.name)
    ? reloadNamed('AdoptedAnnotation', () => `${key} of the workload lists ${source.name}`)
    : pass(() => 'no annotation of fabric8 counts');
}
