import { matchPatterns } from '../patterns/patterns.ts';
import type { Facts } from './facts.ts';
import { pass, type RuleAnswer } from './rule.ts';

/**
 * A workload can name sources by pattern; it is then reloaded whether or not a container uses the source. Without the annotation,
 * the only pattern is the empty one, which matches no valid name.
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
