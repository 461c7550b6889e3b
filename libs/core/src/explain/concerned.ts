import { namedSources } from '../state/dependencies/dependencies.ts';
import { sourceNameOf } from '../state/rows.ts';
import { recordedHashes } from '../record/record.ts';
import type { RuleName } from '../rules/decision.ts';
import type { Explanation } from './explain.ts';
import type { ExplainInput } from './facts.ts';

/** Rules by which a workload refers to one source, not to all that it uses. */
const SPEAKING: ReadonlySet<RuleName> = new Set(['ExcludedSource', 'NamedSource']);

/** Whether a workload concerns a source: it is reloaded for it, uses, names, excludes or mentions it, or has it recorded. */
export function isConcerned(
  { workload: { row }, source, settings }: ExplainInput,
  { reloads, use, rules }: Explanation,
): boolean {
  const name = sourceNameOf(source.key);
  if (reloads || use.used || use.mentioned || name in recordedHashes(row.record)) return true;
  if (rules.some(({ rule, outcome }) => SPEAKING.has(rule) && outcome !== 'pass')) return true;
  return namedSources(row, settings.decision.keys).literal.includes(name);
}
