import type { Excess } from '../annotations/annotation-limits.ts';
import type { AnnotationKeys } from '../annotations/annotation-keys.ts';
import type { Annotations, SourceKind, WorkloadKind } from '../model.ts';
import type { PatternError } from '../patterns/patterns.ts';
import type { Reason } from '../reasons.ts';

/** The settings that affect decisions. */
export interface DecisionSettings {
  readonly keys: AnnotationKeys;
  readonly autoReloadAll: boolean;
  /** As given: an invalid entry disables the whole list. */
  readonly ignoredWorkloadTypes: readonly string[];
  /** Whether finished Jobs are run again. Default false. */
  readonly recreateFinishedJobs?: boolean;
  /** Kinds of source that are not watched. Default none. */
  readonly ignoredSourceKinds?: readonly SourceKind[];
}

/** Everything that a decision depends on. */
export interface DecisionInput {
  readonly source: { readonly kind: SourceKind; readonly name: string; readonly annotations: Annotations };
  readonly workload: {
    readonly kind: WorkloadKind;
    /** From the workload's own metadata. */
    readonly annotations: Annotations;
    /** From its pod template. */
    readonly podAnnotations: Annotations;
    /** Why the workload is not reloaded in its present state, if so. */
    readonly leftAlone?: Reason;
    /** The limit that the workload exceeds, if any. */
    readonly excess?: Excess | undefined;
  };
  readonly settings: DecisionSettings;
}

/** The rule has no opinion; the next one is asked. */
export interface Pass {
  readonly outcome: 'pass';
  /** Explains why, for users. Called only if the text is needed. */
  readonly detail: () => string;
  readonly patternErrors: readonly PatternError[];
}

/** The rule decides; no other rule is asked. */
export interface Opinion {
  readonly outcome: 'reload' | 'skip';
  /** The workload does not name the source, so it is reloaded only if a container uses it. */
  readonly auto: boolean;
  readonly reason: Reason;
  readonly detail: () => string;
  readonly patternErrors: readonly PatternError[];
}

export type RuleAnswer = Pass | Opinion;

const NO_ERRORS: readonly PatternError[] = [];

export function pass(detail: () => string, patternErrors: readonly PatternError[] = NO_ERRORS): Pass {
  return { outcome: 'pass', detail, patternErrors };
}

export function skip(reason: Reason, detail: () => string): Opinion {
  return { outcome: 'skip', auto: false, reason, detail, patternErrors: NO_ERRORS };
}

/** Reloads whether or not a container uses the source. */
export function reloadNamed(reason: Reason, detail: () => string): Opinion {
  return { outcome: 'reload', auto: false, reason, detail, patternErrors: NO_ERRORS };
}

/** Reloads if a container uses the source. */
export function reloadIfUsed(reason: Reason, detail: () => string): Opinion {
  return { outcome: 'reload', auto: true, reason, detail, patternErrors: NO_ERRORS };
}
