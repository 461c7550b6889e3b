import { pass, skip, type RuleAnswer } from './rule.ts';
import type { Facts } from './facts.ts';

/** Leaves kinds of source alone: nobody watches them, and nobody may have the right to read them. */
export function ignoredSourceKind({ source, settings }: Facts): RuleAnswer {
  const isIgnored = settings.ignoredSourceKinds?.includes(source.kind) ?? false;
  return isIgnored
    ? skip('SourceTypeIgnored', () => `sources of kind ${source.kind} are not watched`)
    : pass(() => `sources of kind ${source.kind} are watched`);
}
