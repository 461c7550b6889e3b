import { annotationOf } from '../annotations/annotation-keys.ts';
import type { Facts } from './facts.ts';
import { pass, reloadIfUsed, type RuleAnswer } from './rule.ts';

/** Both sides must agree, with exactly `search: "true"` and `match: "true"`. */
export function searchMatch({ source, settings, search, readFrom }: Facts): RuleAnswer {
  const { keys } = settings;
  if (search !== 'true') return pass(() => `the ${readFrom} does not have ${keys.search}: "true"`);
  return annotationOf(source.annotations, keys.match) === 'true'
    ? reloadIfUsed('SearchMatch', () => `${keys.search} of the ${readFrom} meets ${keys.match} of the source`)
    : pass(() => `the source does not have ${keys.match}: "true"`);
}
