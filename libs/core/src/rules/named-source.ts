import { matchPatterns } from '../patterns/patterns.ts';
import type { Facts } from './facts.ts';
import { pass, type RuleAnswer } from './rule.ts';

/**
 * A workload can name its sources by pattern; it then reloads whether a container uses the source or not.
 * Without the annotation the one pattern is the empty one, which matches no name that Kubernetes allows.
 */
export function namedSource({ source, typed, named, readFrom }: Facts): RuleAnswer {
  const { matched, errors } = matchPatterns(named ?? '', source.name);
  if (matched === undefined) {
    return pass(() => `no pattern in ${typed.reload} of the ${readFrom} matches ${source.name}`, errors);
  }
  return {
    outcome: 'reload',
    auto: false,
    reason: 'NamedByAnnotation',
    detail: () =>
      `${JSON.stringify(matched)} in ${typed.reload} of the ${readFrom} matches ${JSON.stringify(source.name)}`,
    patternErrors: errors,
  };
}
