import { annotationOf } from '../annotations/annotation-keys.ts';
import type { Facts } from './facts.ts';
import { pass, skip, type RuleAnswer } from './rule.ts';

/** A source can opt out with exactly `ignore: "true"`. The annotation has no meaning on a workload. */
export function ignoredSource({ source, settings }: Facts): RuleAnswer {
  const { ignore } = settings.keys;
  return annotationOf(source.annotations, ignore) === 'true'
    ? skip('SourceIgnored', () => `the source has ${ignore}: "true"`)
    : pass(() => `the source does not have ${ignore}: "true"`);
}
