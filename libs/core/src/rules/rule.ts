import type { Excess } from '../annotations/annotation-limits.ts';
import type { AnnotationKeys } from '../annotations/annotation-keys.ts';
import type { Annotations, SourceKind, WorkloadKind } from '../model.ts';
import type { PatternError } from '../patterns/patterns.ts';
import type { Reason } from '../reasons.ts';

/** The settings that decide. */
export interface DecisionSettings {
  readonly keys: AnnotationKeys;
  readonly autoReloadAll: boolean;
  /** As given: an entry that is no workload type switches the whole list off. */
  readonly ignoredWorkloadTypes: readonly string[];
  /** Whether Jobs that are finished are run again. Default false. */
  readonly recreateFinishedJobs?: boolean;
  /** Kinds of source that are not watched. Default none. */
  readonly ignoredSourceKinds?: readonly SourceKind[];
}

/** All that a decision depends on. */
export interface DecisionInput {
  readonly source: { readonly kind: SourceKind; readonly name: string; readonly annotations: Annotations };
  readonly workload: {
    readonly kind: WorkloadKind;
    /** Of the workload's own metadata. */
    readonly annotations: Annotations;
    /** Of its pod template. */
    readonly podAnnotations: Annotations;
    /** Why it is not to be reloaded as it is, if so. */
    readonly leftAlone?: Reason;
    /** Which limit it exceeds, if one. */
    readonly excess?: Excess | undefined;
  };
  readonly settings: DecisionSettings;
}

/** A rule has no opinion, and the next one is asked. */
export interface Pass {
  readonly outcome: 'pass';
  /** Why it has none, for a person. Called only if somebody wants to know. */
  readonly detail: () => string;
  readonly patternErrors: readonly PatternError[];
}

/** A rule decides, and no other is asked. */
export interface Opinion {
  readonly outcome: 'reload' | 'skip';
  /** The workload did not name the source, so it reloads only if a container uses it. */
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

/** Reload whether a container uses the source or not. */
export function reloadNamed(reason: Reason, detail: () => string): Opinion {
  return { outcome: 'reload', auto: false, reason, detail, patternErrors: NO_ERRORS };
}

/** Reload if a container uses the source. */
export function reloadIfUsed(reason: Reason, detail: () => string): Opinion {
  return { outcome: 'reload', auto: true, reason, detail, patternErrors: NO_ERRORS };
}
