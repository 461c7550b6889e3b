import {
  decisionInput,
  judgeDependency,
  type DependencyJudgement,
} from '../state/dependencies/dependencies.ts';
import { sourceNameOf } from '../state/rows.ts';
import type { ReloadHold } from '../holds/hold.ts';
import { kindOf, partsOf, type SourceKey, type WorkloadKey } from '../model.ts';
import type { Reason } from '../reasons.ts';
import { explainReload, type RuleStep } from '../rules/decision.ts';
import { verdictAfterChange } from './after-change.ts';
import { pendingFacts, recordFacts, type PendingFacts, type RecordFacts } from './pending.ts';
import type { ExplainInput } from './facts.ts';
import { holdNow, holdsOn, type Hold } from './holds.ts';
import { useFacts, type UseFacts } from './use.ts';

/** Why a workload is or is not reloaded when a source changes. Hashes are record hashes. */
export interface Explanation {
  readonly workload: WorkloadKey;
  readonly source: SourceKey;
  /** Whether the workload is reloaded if the source's data changes now. */
  readonly reloads: boolean;
  /** The reason that decides: of a rule, or of what stops the reload after the rules. */
  readonly reason: Reason;
  /** One sentence for users. */
  readonly conclusion: string;
  /** The part of the conclusion that tells why, for where workload and source are named beside it. */
  readonly because: string;
  /** In the order of evaluation: see `explainReload`. */
  readonly rules: readonly RuleStep[];
  readonly use: UseFacts;
  /** The rules say yes, and a container can carry the marker. */
  readonly isDependency: boolean;
  readonly record: RecordFacts;
  readonly due: PendingFacts;
  /** Everything else that affects a reload. */
  readonly holds: readonly Hold[];
  /** Why a reload would be held now; see `holdNow`. */
  readonly heldNow: ReloadHold | undefined;
}

/**
 * Explains with the functions that decide: the rules, the cluster state and a worker's plan. Throws a `TypeError` for an invalid
 * key.
 */
export function explain(input: ExplainInput): Explanation {
  const { workload, source, settings } = input;
  const question = {
    workload: { ...workload.row, kind: kindOf(workload.key) },
    source: sourceNameOf(source.key),
    annotations: source.row?.annotations,
  };
  const judgement = judgeDependency(question, settings.decision);
  const isDependency = judgement.decision.reload && judgement.isCarried;
  const heldNow = holdNow(input);
  const holds = holdsOn(input, heldNow);
  const settled = settle(input, judgement, holds);
  const because = midSentence(settled.because);
  return {
    workload: workload.key,
    source: source.key,
    reloads: settled.reloads,
    reason: settled.reason,
    conclusion: conclusion(input, settled.reloads, because),
    because,
    rules: explainReload(decisionInput(question, settings.decision)),
    use: useFacts(workload, source.key, judgement.decision),
    isDependency,
    record: recordFacts(input),
    due: pendingFacts(input, isDependency),
    holds,
    heldNow,
  };
}

interface Settled {
  readonly reloads: boolean;
  readonly reason: Reason;
  readonly because: string;
}

/** In the order in which change job and reload job check it. */
function settle(
  input: ExplainInput,
  { decision, isCarried }: DependencyJudgement,
  holds: readonly Hold[],
): Settled {
  const because = decision.detail ?? '';
  const not = (reason: Reason, but: string): Settled => ({
    reloads: false,
    reason,
    because: `${because}, but ${midSentence(but)}`,
  });
  if (!decision.reload) return { reloads: false, reason: decision.reason, because };
  if (!isCarried) return not('NoContainer', uncarried(decision.auto));
  const stopped = holds.find(({ stops }) => stops);
  if (stopped) return not(stopped.reason, stopped.detail);
  // Only a missing earlier state of the source can keep a later write from being pending.
  if (verdictAfterChange(input) !== 'Roll')
    return not('SourceAbsent', 'the creation of a source is not a change of its data');
  return { reloads: true, reason: decision.reason, because };
}

function uncarried(isUseNeeded: boolean): string {
  return isUseNeeded
    ? 'no container of its pod template uses the source'
    : 'its pod template has no container that could carry the marker';
}

/** `Deployment shop/web reloads when Secret shop/db changes: the workload has reloader.stakater.com/auto: "true".` */
function conclusion({ workload, source }: ExplainInput, reloads: boolean, because: string): string {
  const event = source.row?.exists ? 'changes' : 'is created';
  const does = reloads ? 'reloads' : 'does not reload';
  return `${called(workload.key)} ${does} when ${called(source.key)} ${event}: ${because}.`;
}

/** Joins a sentence to the end of another one. */
function midSentence(sentence: string): string {
  return sentence.replace(/\.$/, '').replace(/^[A-Z](?=[a-z]+ )/, (letter) => letter.toLowerCase());
}

/** Converts `Deployment/shop/web` to `Deployment shop/web`. */
function called(key: WorkloadKey | SourceKey): string {
  const { kind, namespace, name } = partsOf(key);
  return `${kind} ${namespace}/${name}`;
}
