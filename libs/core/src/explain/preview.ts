import type { SourceKey, WorkloadKey } from '../model.ts';
import type { ReloadHold } from '../holds/hold.ts';
import type { Reason } from '../reasons.ts';
import { isConcerned } from './concerned.ts';
import { explain, type Explanation } from './explain.ts';
import type { ExplainInput } from './facts.ts';

/** What a change of a source's data would do to a workload. */
export interface PreviewedPair {
  readonly workload: WorkloadKey;
  readonly source: SourceKey;
  readonly reloads: boolean;
  readonly reason: Reason;
  /** One sentence. */
  readonly detail: string;
  /** Why the reload would be held now, as far as that is known; see `holdNow`. */
  readonly held?: ReloadHold | undefined;
}

export interface Preview {
  /** Every pair that concerns each other, today or as proposed: first those that reload, then by key. */
  readonly verdicts: readonly PreviewedPair[];
  /** The present state of the pairs that would differ. */
  readonly today: readonly PreviewedPair[];
  /** One sentence, or more. */
  readonly conclusion: string;
}

/** A pair as it is and, with a proposal, as it would be. */
export interface PreviewPair {
  readonly today: ExplainInput;
  readonly proposed?: ExplainInput;
}

interface Explained {
  readonly today: Explanation;
  readonly proposed: Explanation;
  readonly isConcerned: boolean;
}

/** The pairs to preview, and remarks to add. */
export interface PreviewPlan {
  readonly pairs: readonly PreviewPair[];
  readonly remarks: readonly string[];
}

/** Previews what changes of the pairs' sources would do. Explains only: sends nothing and writes nothing. */
export function preview(plan: PreviewPlan): Preview {
  const steps = previewSteps(plan);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/**
 * `preview` one pair at a time: some take tens of milliseconds, and a namespace can have thousands. The caller may pause between
 * steps.
 */
export function* previewSteps({ pairs, remarks }: PreviewPlan): Generator<undefined, Preview, void> {
  const explained: Explained[] = [];
  for (const each of pairs) {
    const pair = explainPair(each);
    if (pair.isConcerned) explained.push(pair);
    yield;
  }
  const verdicts = explained.map(({ proposed }) => verdictOf(proposed)).sort(byOrder);
  const today = explained.filter(differs).map((pair) => verdictOf(pair.today));
  const words = [conclusion(pairs, verdicts, today), ...remarks].join(' ');
  return { verdicts, today: today.sort(byOrder), conclusion: words };
}

function explainPair(pair: PreviewPair): Explained {
  const today = explain(pair.today);
  if (!pair.proposed) return { today, proposed: today, isConcerned: isConcerned(pair.today, today) };
  const proposed = explain(pair.proposed);
  return {
    today,
    proposed,
    isConcerned: isConcerned(pair.today, today) || isConcerned(pair.proposed, proposed),
  };
}

function differs({ today, proposed }: Explained): boolean {
  return today.reloads !== proposed.reloads || today.reason !== proposed.reason;
}

function verdictOf({ workload, source, reloads, reason, conclusion, heldNow }: Explanation): PreviewedPair {
  return { workload, source, reloads, reason, detail: conclusion, held: reloads ? heldNow : undefined };
}

function byOrder(a: PreviewedPair, b: PreviewedPair): number {
  if (a.reloads !== b.reloads) return a.reloads ? -1 : 1;
  return compare(a.workload, b.workload) || compare(a.source, b.source);
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function conclusion(
  pairs: readonly PreviewPair[],
  verdicts: readonly PreviewedPair[],
  today: readonly PreviewedPair[],
): string {
  const rolled = new Set(verdicts.filter(({ reloads }) => reloads).map(({ workload }) => workload)).size;
  const left = new Set(verdicts.map(({ workload }) => workload)).size - rolled;
  const counted = `${rolled} ${rolled === 1 ? 'workload' : 'workloads'} would reload, ${left} would be left alone.`;
  if (pairs.every(({ proposed }) => proposed === undefined)) return counted;
  if (today.length === 0) return `${counted} Nothing would change from today.`;
  return `${counted} ${today.length} ${today.length === 1 ? 'verdict differs' : 'verdicts differ'} from today's.`;
}
