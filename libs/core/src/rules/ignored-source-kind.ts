import { pass, skip, type RuleAnswer } from './rule.ts';
import type { Facts } from './facts.ts';

/** Skips kinds of source that are not watched; the watcher may lack the permission to read them. */
export function ignoredSourceKind({ source, settings }: Facts): RuleAnswer {
  const isIgnored = settings.ignoredSourceKinds?.includes(source.kind) ?? false;
  return isIgnored
    ? skip('SourceTypeIgnored', () => `sources of kind ${source.kind} are not watched`)
    : pass(() => `sources of kind ${source.kind} are watched`);
}
