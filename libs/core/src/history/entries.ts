import type { SourceKey, WorkloadKey } from '../model.ts';
import type { Reason } from '../reasons.ts';
import type { RecordHash } from '../record/record-hash.ts';
import type { PodTrouble, RolloutCondition, RolloutStatus } from '../rollouts/rollout.ts';

/** What the rules said of a workload that uses, names or mentions a source. */
export interface JudgedWorkload {
  readonly workload: WorkloadKey;
  readonly reason: Reason;
  readonly detail: string;
}

/**
 * How a change came about.
 * - `updated`, `created`, `deleted`: seen live.
 * - `missed`: found by a list, a resync or a leader that took over, not by a live event.
 * - `repeated`: the job ran again, and the data is what was told before.
 * - `manual`: a person asked for a reload; it has no source.
 */
export const CHANGE_CAUSES = ['updated', 'created', 'deleted', 'missed', 'repeated', 'manual'] as const;
export type ChangeCause = (typeof CHANGE_CAUSES)[number];

/** A reload that a person asked for: the id of the request, who asked, and why. */
export interface RequestEntry {
  readonly id: string;
  /** The authenticated name. */
  readonly actor: string;
  readonly reason: string;
}

/** A change as a worker took it up. Names, codes and hashes; never data. Its id is that in the stream. */
export interface ChangeEntry {
  /** Null of a person's reload, which no source caused. */
  readonly source: SourceKey | null;
  readonly cause: ChangeCause;
  /** Unix milliseconds when the watcher saw it, and when the worker did. */
  readonly since: number;
  readonly at: number;
  /** The hash at the change that was told before; null: the source did not exist, or it is not known. */
  readonly from: RecordHash | null;
  /** The record hash; null if the source was gone by then. */
  readonly hash: RecordHash | null;
  /** Workloads that got a reload job, and why; the first of them, by name (see `boundedChange`). */
  readonly woken: readonly JudgedWorkload[];
  /** Workloads that were left alone, and why; the first of them. */
  readonly leftAlone: readonly JudgedWorkload[];
  /** How many there are beyond those of each list. Undefined: none. */
  readonly more?: { readonly woken: number; readonly leftAlone: number } | undefined;
  /** Earlier changes of the source that have no entry of their own: none of them reloaded a workload. Undefined: none. */
  readonly merged?: number | undefined;
  /** Of cause `manual`; outcomes of it carry the same. */
  readonly request?: RequestEntry | undefined;
}

export const OUTCOME_STATES = [
  'reloaded',
  'recorded',
  'unchanged',
  'wouldReload',
  'retrying',
  'failed',
] as const;
export type OutcomeState = (typeof OUTCOME_STATES)[number];

/** What came of one attempt of a reload job. */
export interface OutcomeEntry {
  readonly workload: WorkloadKey;
  readonly state: OutcomeState;
  readonly reason: Reason;
  /** What was found for each source that matters, e.g. `{ 'ConfigMap/web': 'Roll' }`. */
  readonly sources: Readonly<Record<string, string>>;
  /** Sources (`<kind>/<name>`) for which the pods are replaced. */
  readonly rolled: readonly string[];
  /** How many sources are left out of `sources` or `rolled` (see `boundedOutcome`). Undefined: none. */
  readonly omitted?: number | undefined;
  readonly since: number;
  readonly at: number;
  readonly attempt: number;
  /** The most attempts that there are. */
  readonly attempts: number;
  /** Unix milliseconds of the next attempt, at the earliest. Only of `retrying`. */
  readonly next?: number | undefined;
  /** Of the workload after the patch: the rollout of this generation, or of a later one, is that of this reload. */
  readonly generation?: number | undefined;
  /** Code of what went wrong, e.g. `KUBE_API 422 Invalid`; no text of the API server. */
  readonly error?: string | undefined;
  readonly detail?: string | undefined;
  /** A person asked for it. */
  readonly request?: RequestEntry | undefined;
}

/**
 * How far a rollout is. In the stream: one that is complete or stuck now and was not before. In the hash
 * `rollouts`: one that is not complete.
 */
export interface RolloutEntry extends RolloutStatus {
  readonly workload: WorkloadKey;
  readonly generation: number;
  /** Unix milliseconds when it was first seen under way, and when it was seen so. */
  readonly since: number;
  readonly at: number;
  readonly conditions: readonly RolloutCondition[];
  /** Of one that is stuck, with `--rollout-details`: at most five. */
  readonly pods?: readonly PodTrouble[] | undefined;
}

export const AUDIT_RESULTS = ['done', 'refused', 'failed'] as const;
export type AuditResult = (typeof AUDIT_RESULTS)[number];

/** A write through the API. */
export interface AuditEntry {
  /** Unix milliseconds. */
  readonly at: number;
  /** The authenticated name. */
  readonly actor: string;
  /** Name of the operation. */
  readonly action: string;
  /** What it concerned, e.g. `Deployment/shop/web`. */
  readonly target: string;
  /** The person's. */
  readonly reason: string;
  readonly result: AuditResult;
  /** Code of why it was refused or failed. */
  readonly code?: string | undefined;
  readonly requestId: string;
}
