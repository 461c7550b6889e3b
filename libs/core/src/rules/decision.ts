import type { PatternError } from '../patterns/patterns.ts';
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
import type { DecisionInput, Opinion, RuleAnswer } from './rule.ts';
import { searchMatch } from './search-match.ts';

export type { DecisionInput, DecisionSettings } from './rule.ts';

/** Whether a workload reloads when a source changes, and why. */
export interface Decision {
  readonly reload: boolean;
  /** The workload does not name the source, so it is reloaded only if a container uses it. */
  readonly auto: boolean;
  readonly rule: RuleName;
  readonly reason: Reason;
  readonly detail?: string;
  /** Unusable patterns of the workload that were met before the decision. */
  readonly patternErrors: readonly PatternError[];
}

/** The answer of one rule. */
export interface RuleStep {
  readonly rule: RuleName;
  readonly outcome: RuleAnswer['outcome'];
  /** True for the first rule with an opinion. Later rules show what they would have said. */
  readonly decides: boolean;
  readonly reason?: Reason;
  readonly detail: string;
  readonly patternErrors: readonly PatternError[];
}

type Judge = (facts: Facts) => RuleAnswer;

/** In the order of evaluation. The first rule with an opinion decides. */
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

/** Decides by the rules. Pure; never throws, whatever the annotations hold. */
export function decideReload(input: DecisionInput): Decision {
  work.decisions += 1;
  const facts = factsOf(input);
  const unusable: PatternError[] = [];
  for (const [rule, judge] of RULES) {
    const answer = judge(facts);
    for (const error of answer.patternErrors) unusable.push(error);
    if (answer.outcome !== 'pass') return decision(rule, answer, unusable);
  }
  return decision(LAST_RULE, notAsked(facts, unusable), unusable);
}

/**
 * Returns what every rule says about the input, in order; the last one, which is the answer if no other has one, only then. The deciding
 * rule is the same as in `decideReload`.
 */
export function explainReload(input: DecisionInput): RuleStep[] {
  const facts = factsOf(input);
  const answers: (readonly [RuleName, RuleAnswer])[] = RULES.map(([rule, judge]) => [rule, judge(facts)]);
  const unusable = answers.flatMap(([, answer]) => answer.patternErrors);
  const deciding = answers.findIndex(([, answer]) => answer.outcome !== 'pass');
  const steps = answers.map(([rule, answer], index) => step(rule, answer, index === deciding));
  return deciding >= 0 ? steps : [...steps, step(LAST_RULE, notAsked(facts, unusable), true)];
}

function decision(rule: RuleName, opinion: Opinion, patternErrors: readonly PatternError[]): Decision {
  return {
    reload: opinion.outcome === 'reload',
    auto: opinion.auto,
    rule,
    reason: opinion.reason,
    detail: opinion.detail(),
    patternErrors,
  };
}

function step(rule: RuleName, answer: RuleAnswer, decides: boolean): RuleStep {
  const { outcome, patternErrors } = answer;
  const reason = answer.outcome === 'pass' ? {} : { reason: answer.reason };
  return { rule, outcome, decides, ...reason, detail: answer.detail(), patternErrors };
}
