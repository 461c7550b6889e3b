import type { SourceKey, WorkloadKey } from '../model.ts';
import { annotationOf } from '../annotations/annotation-keys.ts';
import { WAVE_ANNOTATION, type ReloadHold } from '../holds/hold.ts';
import type { WaveSettings } from '../holds/waves.ts';
import type { Reason } from '../reasons.ts';
import { isConcerned } from './concerned.ts';
import { explain, type Explanation } from './explain.ts';
import type { ExplainInput } from './facts.ts';
import { previewWaves } from './preview-waves.ts';

/** What a change of a source's data would do to a workload. */
export interface PreviewedPair {
  readonly workload: WorkloadKey;
  readonly source: SourceKey;
  readonly reloads: boolean;
  readonly reason: Reason;
  /** One sentence. */
  readonly detail: string;
  /** Why the reload would be held now; see `holdNow`. */
  readonly held?: ReloadHold | undefined;
  /** In which wave of the change the workload would reload, from 1. Undefined: the change comes to all at once. */
  readonly wave?: number | undefined;
}

export interface Preview {
  /** Every pair that concerns each other, today or as proposed: first those that reload, by wave if there are any, then by key. */
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
  /** How changes come, if all pairs have the same source. Undefined: to all workloads at once, or it is not told. */
  readonly waves?: WaveSettings | undefined;
  /** Whether changes come otherwise today. Default false. */
  readonly areWavesProposed?: boolean | undefined;
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
export function* previewSteps({
  pairs,
  waves,
  areWavesProposed,
  remarks,
}: PreviewPlan): Generator<undefined, Preview, void> {
  const explained: Explained[] = [];
  for (const each of pairs) {
    const pair = explainPair(each);
    if (pair.isConcerned) explained.push(pair);
    yield;
  }
  const ordered = explained.map(({ proposed }) => verdictOf(proposed)).sort(byOrder);
  const inWaves = waves && previewWaves(ordered, waves, waveAnnotations(pairs));
  const verdicts = inWaves?.verdicts ?? ordered;
  const today = explained.filter(differs).map((pair) => verdictOf(pair.today));
  const words = [
    conclusion(pairs, verdicts, { today, areWavesProposed }),
    ...(inWaves?.remarks ?? []),
    ...remarks,
    ...(pairs.some(({ today: { settings } }) => settings.dryRun) ? [DRY_RUN] : []),
  ].join(' ');
  return { verdicts, today: today.sort(byOrder), conclusion: words };
}

const DRY_RUN = 'This is a dry run (`--dry-run`): until it ends, nothing is patched.';

function waveAnnotations(pairs: readonly PreviewPair[]): ReadonlyMap<WorkloadKey, string | undefined> {
  return new Map(
    pairs.map(({ today: { workload } }) => [
      workload.key,
      annotationOf(workload.row.annotations, WAVE_ANNOTATION),
    ]),
  );
}

function explainPair(pair: PreviewPair): Explained {
  const today = explain(notDry(pair.today));
  if (!pair.proposed) return { today, proposed: today, isConcerned: isConcerned(pair.today, today) };
  const proposed = explain(notDry(pair.proposed));
  return {
    today,
    proposed,
    isConcerned: isConcerned(pair.today, today) || isConcerned(pair.proposed, proposed),
  };
}

/** A dry run is told once, so that the preview says what would reload without it. */
function notDry(input: ExplainInput): ExplainInput {
  return { ...input, settings: { ...input.settings, dryRun: false } };
}

function differs({ today, proposed }: Explained): boolean {
  return today.reloads !== proposed.reloads || today.reason !== proposed.reason;
}

function verdictOf({ workload, source, reloads, reason, because, heldNow }: Explanation): PreviewedPair {
  return { workload, source, reloads, reason, detail: because, held: reloads ? heldNow : undefined };
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
  { today, areWavesProposed = false }: Pick<Preview, 'today'> & Pick<PreviewPlan, 'areWavesProposed'>,
): string {
  const rolled = new Set(verdicts.filter(({ reloads }) => reloads).map(({ workload }) => workload)).size;
  const left = new Set(verdicts.map(({ workload }) => workload)).size - rolled;
  const counted = `${rolled} ${rolled === 1 ? 'workload' : 'workloads'} would reload, ${left} would be left alone.`;
  if (pairs.every(({ proposed }) => proposed === undefined)) return counted;
  if (today.length === 0) return areWavesProposed ? counted : `${counted} Nothing would change from today.`;
  return `${counted} ${today.length} ${today.length === 1 ? 'verdict differs' : 'verdicts differ'} from today's.`;
}
