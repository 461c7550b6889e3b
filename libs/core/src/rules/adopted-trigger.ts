import { ADOPTED_LISTS, adoptedNames } from '../adopted/adopted.ts';
import type { Facts } from './facts.ts';
import { pass, reloadNamed, type RuleAnswer } from './rule.ts';

/** k8s-trigger-controller's lists; only names with a plain volume count. Only with `--adopt=trigger`. */
export function adoptedTrigger({ source, workload, settings }: Facts): RuleAnswer {
  const names = settings.keys.adopt?.includes('trigger')
    ? adoptedNames(workload.annotations, 'trigger', source.kind)
    : undefined;
  const key = ADOPTED_LISTS.trigger[source.kind];
  return names?.has(source.name)
    ? reloadNamed('AdoptedAnnotation', () => `${key} of the workload lists ${source.name}, a volume`)
    : pass(() => 'no annotation of k8s-trigger-controller counts');
}
