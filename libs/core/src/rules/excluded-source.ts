import { nameList } from '../patterns/patterns.ts';
import type { Facts } from './facts.ts';
import { pass, skip, type RuleAnswer } from './rule.ts';

/** A workload can exclude sources by exact name, even sources that it names elsewhere. */
export function excludedSource({ source, typed, exclude }: Facts): RuleAnswer {
  return exclude && nameList(exclude).words.has(source.name)
    ? skip('SourceExcluded', () => `${typed.exclude} of the workload lists ${source.name}`)
    : pass(() => `${typed.exclude} of the workload does not list ${source.name}`);
}
