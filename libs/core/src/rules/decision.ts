import type { PatternError } from '../patterns.ts';
import type { Reason } from '../reasons.ts';
import { work } from '../work.ts';
import { adoptedFabric8 } from './adopted-fabric8.ts';
import { adoptedTrigger } from './adopted-trigger.ts';
import { adoptedWave } from './adopted-wave.ts';
import { autoReload } from './auto-reload.ts';
import { autoReloadAll } from './auto-reload-all.ts';
import { excludedSource } from './excluded-source.ts';
import { factsOf, type Facts } from './facts.ts';
import { ignoredSource } from './ignored-source.ts';
import { ignoredSourceKind } from './ignored-source-kind.ts';
import { ignoredWorkloadKind } from './ignored-workload-kind.ts';
import { leftAlone } from './left-alone.ts';
import { namedSource } from './named-source.ts';
import { notAsked } from './not-asked.ts';
import type { DecisionInput, Ruling, Verdict } from './rule.ts';
import { searchMatch } from './search-match.ts';

export type { DecisionInput, DecisionSettings } from './rule.ts';

/** Whether a workload reloads when a source changes, and why. */
export interface Decision {
  readonly reload: boolean;
  /** The workload did not name the source, so it reloads only if a container uses it. */
  readonly auto: boolean;
  /** The rule that decided. */
  readonly rule: RuleName;
  readonly reason: Reason;
  readonly detail?: string;
  /** Patterns of the workload that could not be used before the decision fell. */
  readonly patternErrors: readonly PatternError[];
}

/** What one rule says. */
export interface RuleStep {
  readonly rule: RuleName;
  readonly outcome: Verdict['outcome'];
  /** The first rule with an opinion; those after it are given for what they would have said. */
  readonly decides: boolean;
  readonly reason?: Reason;
  readonly detail: string;
  readonly patternErrors: readonly PatternError[];
}

type Judge = (facts: Facts) => Verdict;

/** In the order in which they are asked. The first with an opinion decides. */
const RULES = [
  ['IgnoredWorkloadKind', ignoredWorkloadKind],
  ['LeftAlone', leftAlone],
  ['IgnoredSourceKind', ignoredSourceKind],
  ['IgnoredSource', ignoredSource],
  ['ExcludedSource', excludedSource],
  ['NamedSource', namedSource],
  ['SearchMatch', searchMatch],
  ['AutoReload', autoReload],
  ['AdoptedFabric8', adoptedFabric8],
  ['AdoptedTrigger', adoptedTrigger],
  ['AdoptedWave', adoptedWave],
  ['AutoReloadAll', autoReloadAll],
] as const satisfies readonly (readonly [string, Judge])[];

const LAST_RULE = 'NotAsked';

export type RuleName = (typeof RULES)[number][0] | typeof LAST_RULE;

/** Decides by the rules. Pure, and never throws, whatever the annotations hold. */
export function decideReload(input: DecisionInput): Decision {
  work.decisions += 1;
  const facts = factsOf(input);
  const unusable: PatternError[] = [];
  for (const [rule, judge] of RULES) {
    const verdict = judge(facts);
    for (const error of verdict.patternErrors) unusable.push(error);
    if (verdict.outcome !== 'pass') return decision(rule, verdict, unusable);
  }
  return decision(LAST_RULE, notAsked(facts, unusable), unusable);
}

/** What every rule says about the same input, in their order. The one that decides is `decideReload`'s. */
export function explainReload(input: DecisionInput): RuleStep[] {
  const facts = factsOf(input);
  const verdicts: (readonly [RuleName, Verdict])[] = RULES.map(([rule, judge]) => [rule, judge(facts)]);
  const unusable = verdicts.flatMap(([, verdict]) => verdict.patternErrors);
  verdicts.push([LAST_RULE, notAsked(facts, unusable)]);
  const deciding = verdicts.findIndex(([, verdict]) => verdict.outcome !== 'pass');
  return verdicts.map(([rule, verdict], index) => step(rule, verdict, index === deciding));
}

function decision(rule: RuleName, ruling: Ruling, patternErrors: readonly PatternError[]): Decision {
  return {
    reload: ruling.outcome === 'reload',
    auto: ruling.auto,
    rule,
    reason: ruling.reason,
    detail: ruling.detail(),
    patternErrors,
  };
}

function step(rule: RuleName, verdict: Verdict, decides: boolean): RuleStep {
  const { outcome, patternErrors } = verdict;
  const reason = verdict.outcome === 'pass' ? {} : { reason: verdict.reason };
  return { rule, outcome, decides, ...reason, detail: verdict.detail(), patternErrors };
}
