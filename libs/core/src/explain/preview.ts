import type { SourceKey, WorkloadKey } from '../model.ts';
import { annotationOf } from '../annotations/annotation-keys.ts';
import { WAVE_ANNOTATION, type ReloadHold } from '../holds/hold.ts';
import { readWaves, waveOf, type WaveSettings } from '../holds/waves.ts';
import type { Reason } from '../reasons.ts';
import { isConcerned } from './concerned.ts';
import { explain, type Explanation } from './explain.ts';
import type { ExplainInput } from './facts.ts';
import { FirstInOrder } from './first-in-order.ts';
import { previewWaves } from './preview-waves.ts';

/** What a change of a source's data would do to a workload. */
export interface PreviewedPair {
  readonly workload: WorkloadKey;
  readonly source: SourceKey;
  readonly reloads: boolean;
  readonly reason: Reason;
  /** One sentence, of at most `LONGEST_DETAIL` characters: it may quote a pattern. */
  readonly detail: string;
  /** Why the reload would be held now; see `holdNow`. */
  readonly held?: ReloadHold | undefined;
  /** In which wave of the change the workload would reload, from 1. Undefined: the change comes to all at once. */
  readonly wave?: number | undefined;
}

export interface Preview {
  /**
   * Every pair that concerns each other, today or as proposed, up to `MOST_LISTED`: first those that reload, by wave if there are any,
   * then by key.
   */
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

/** The pairs to preview, and remarks to add. */
export interface PreviewPlan {
  /** Made as they are explained: a namespace can have a million. Those of a workload follow each other. */
  readonly pairs: Iterable<PreviewPair>;
  /** How changes come, if all pairs have the same source. Undefined: to all workloads at once, or it is not told. */
  readonly waves?: WaveSettings | undefined;
  /** Whether changes come otherwise today. Default false. */
  readonly areWavesProposed?: boolean | undefined;
  readonly remarks: readonly string[];
}

/** Previews what changes of the pairs' sources would do. Explains only: sends nothing and writes nothing. */
export function preview(plan: PreviewPlan): Preview {
  const found = new PreviewedPairs(plan);
  for (const _ of found.add(plan.pairs)) continue;
  return found.preview();
}

/** Explains pairs, and keeps only what the preview shows of them: a row may have a megabyte, and a namespace a million pairs. */
export class PreviewedPairs {
  readonly #plan: Omit<PreviewPlan, 'pairs'>;
  readonly #areWavesRead: boolean;
  readonly #verdicts = new FirstInOrder<Placed>(MOST_LISTED, byOrder);
  /** The present state of those that differ. */
  readonly #today = new FirstInOrder<Placed>(MOST_LISTED, byOrder);
  #workloads = 0;
  #reloading = 0;
  /** The workload that was added last. */
  #last: { readonly key: WorkloadKey; reloads: boolean } | undefined;
  #isProposed = false;
  #isDry = false;

  constructor(plan: Omit<PreviewPlan, 'pairs'>) {
    this.#plan = plan;
    this.#areWavesRead = plan.waves !== undefined && readWaves(plan.waves.waves).state === 'read';
  }

  /** Verdicts in memory. */
  get held(): number {
    return this.#verdicts.held + this.#today.held;
  }

  /** One pair at a time: some take tens of milliseconds. The caller may pause between steps. */
  *add(pairs: Iterable<PreviewPair>): Generator<undefined, void, void> {
    for (const pair of pairs) {
      this.#add(pair);
      yield;
    }
  }

  /** The preview of all pairs that were added. */
  preview(): Preview {
    const { waves, areWavesProposed, remarks } = this.#plan;
    const ordered = this.#verdicts.items().map(({ verdict }) => verdict);
    const inWaves = waves && previewWaves(ordered, waves, this.#reloading);
    const sentences = [
      countOf(this.#reloading, this.#workloads - this.#reloading),
      ...(this.#isProposed ? differences(this.#today.count, areWavesProposed) : []),
      ...(this.#verdicts.count > MOST_LISTED ? [`Only the first ${MOST_LISTED} verdicts are listed.`] : []),
      ...(inWaves?.remarks ?? []),
      ...remarks,
      ...(this.#isDry ? [DRY_RUN] : []),
    ];
    return {
      verdicts: inWaves?.verdicts ?? ordered,
      today: this.#today.items().map(({ verdict }) => verdict),
      conclusion: sentences.join(' '),
    };
  }

  #add(pair: PreviewPair): void {
    const today = explain(notDry(pair.today));
    const proposed = pair.proposed ? explain(notDry(pair.proposed)) : today;
    if (pair.proposed) this.#isProposed = true;
    if (pair.today.settings.dryRun) this.#isDry = true;
    const isConcerning =
      isConcerned(pair.today, today) || (pair.proposed && isConcerned(pair.proposed, proposed));
    if (!isConcerning) return;
    const { key, row } = pair.today.workload;
    const wave = this.#areWavesRead ? waveOf(annotationOf(row.annotations, WAVE_ANNOTATION)) : 0;
    this.#verdicts.add({ verdict: verdictOf(proposed), wave });
    if (differ(today, proposed)) this.#today.add({ verdict: verdictOf(today), wave: 0 });
    this.#count(key, proposed.reloads);
  }

  /** A workload that reloads for one of its sources does. */
  #count(key: WorkloadKey, reloads: boolean): void {
    if (this.#last?.key !== key) {
      this.#last = { key, reloads: false };
      this.#workloads += 1;
    }
    if (!reloads || this.#last.reloads) return;
    this.#last.reloads = true;
    this.#reloading += 1;
  }
}

/** `wave`: see `waveOf`. */
interface Placed {
  readonly verdict: PreviewedPair;
  readonly wave: number;
}

/** Verdicts in an answer: a namespace can have a million. */
export const MOST_LISTED = 10_000;

const DRY_RUN = 'This is a dry run (`--dry-run`): until it ends, nothing is patched.';

/** A dry run is told once, so that the preview says what would reload without it. */
function notDry(input: ExplainInput): ExplainInput {
  return { ...input, settings: { ...input.settings, dryRun: false } };
}

function differ(today: Explanation, proposed: Explanation): boolean {
  return today.reloads !== proposed.reloads || today.reason !== proposed.reason;
}

function verdictOf({ workload, source, reloads, reason, because, heldNow }: Explanation): PreviewedPair {
  return { workload, source, reloads, reason, detail: cut(because), held: reloads ? heldNow : undefined };
}

const LONGEST_DETAIL = 500;

/** Not a part of the text, with which V8 would keep the whole. */
function cut(text: string): string {
  if (text.length <= LONGEST_DETAIL) return text;
  return `${Array.from(text.slice(0, LONGEST_DETAIL - 1)).join('')}…`;
}

function byOrder({ verdict: a, wave }: Placed, { verdict: b, wave: other }: Placed): number {
  if (a.reloads !== b.reloads) return a.reloads ? -1 : 1;
  const byWave = a.reloads ? compare(wave, other) : 0;
  return byWave || compare(a.workload, b.workload) || compare(a.source, b.source);
}

function compare<Value extends string | number>(a: Value, b: Value): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function countOf(reloaded: number, left: number): string {
  return `${reloaded} ${reloaded === 1 ? 'workload' : 'workloads'} would reload, ${left} would be left alone.`;
}

function differences(count: number, areWavesProposed = false): string[] {
  if (count === 0) return areWavesProposed ? [] : ['Nothing would change from today.'];
  return [`${count} ${count === 1 ? 'verdict differs' : 'verdicts differ'} from today's.`];
}
