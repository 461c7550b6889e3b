import type { SourceKey, WorkloadKey } from '../model.ts';
import type { Reason } from '../reasons.ts';
import type { RecordHash } from '../record/record-hash.ts';
import type { PodTrouble, RolloutCondition, RolloutStatus } from '../rollouts/rollout.ts';

/** The decision of the rules about a workload that uses, names or mentions a source. */
export interface JudgedWorkload {
  readonly workload: WorkloadKey;
  readonly reason: Reason;
  readonly detail: string;
}

/**
 * How a change was found.
 * - `updated`, `created`, `deleted`: seen live.
 * - `missed`: found by a list, a resync or a new leader, not by a live event.
 * - `repeated`: the job ran again with data that was already reported.
 * - `manual`: a user requested a reload; there is no source.
 */
export const CHANGE_CAUSES = ['updated', 'created', 'deleted', 'missed', 'repeated', 'manual'] as const;
export type ChangeCause = (typeof CHANGE_CAUSES)[number];

/** A manual reload: the id of the request, the user and the reason. */
export interface RequestEntry {
  readonly id: string;
  /** The authenticated name of the user. */
  readonly actor: string;
  readonly reason: string;
}

/** A change as a worker took it up. Holds names, codes and hashes, never data. Its id is that of the stream entry. */
export interface ChangeEntry {
  /** Null for a manual reload. */
  readonly source: SourceKey | null;
  readonly cause: ChangeCause;
  /** Unix milliseconds at which the watcher saw it, and at which the worker took it up. */
  readonly since: number;
  readonly at: number;
  /** The hash at the last change that was reported; null: the source did not exist, or its hash is not known. */
  readonly from: RecordHash | null;
  /** The record hash; null if the source did not exist any more. */
  readonly hash: RecordHash | null;
  /** Workloads that got a reload job, and why; only the first ones by name (see `boundedChange`). */
  readonly woken: readonly JudgedWorkload[];
  /** Workloads that were left alone, and why; only the first ones. */
  readonly leftAlone: readonly JudgedWorkload[];
  /** How many workloads each list leaves out. Undefined: none. */
  readonly more?: { readonly woken: number; readonly leftAlone: number } | undefined;
  /** Earlier changes of the source without their own entries, because none of them reloaded a workload. Undefined: none. */
  readonly merged?: number | undefined;
  /** Only for the cause `manual`; its outcomes carry the same request. */
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

/** The outcome of one attempt of a reload job. */
export interface OutcomeEntry {
  readonly workload: WorkloadKey;
  readonly state: OutcomeState;
  readonly reason: Reason;
  /** The verdict for each source that matters, e.g. `{ 'ConfigMap/web': 'Roll' }`. */
  readonly sources: Readonly<Record<string, string>>;
  /** Sources (`<kind>/<name>`) for which the pods are replaced. */
  readonly rolled: readonly string[];
  /** How many sources `sources` or `rolled` leave out (see `boundedOutcome`). Undefined: none. */
  readonly omitted?: number | undefined;
  readonly since: number;
  readonly at: number;
  readonly attempt: number;
  /** The most attempts of the job. */
  readonly attempts: number;
  /** The earliest time of the next attempt, in Unix milliseconds. Only for `retrying`. */
  readonly next?: number | undefined;
  /** The workload's generation after the patch. The rollout of this generation or a later one is that of this reload. */
  readonly generation?: number | undefined;
  /** Code of the error, e.g. `KUBE_API 422 Invalid`; no text of the API server. */
  readonly error?: string | undefined;
  readonly detail?: string | undefined;
  /** The request, for a manual reload. */
  readonly request?: RequestEntry | undefined;
}

/**
 * Progress of a rollout. In the stream: one that just became complete or stuck. In the hash `rollouts`: one that is not complete.
 */
export interface RolloutEntry extends RolloutStatus {
  readonly workload: WorkloadKey;
  readonly generation: number;
  /** Unix milliseconds at which it was first seen under way, and last seen. */
  readonly since: number;
  readonly at: number;
  readonly conditions: readonly RolloutCondition[];
  /** Pods of a stuck rollout, with `--rollout-details`; at most five. */
  readonly pods?: readonly PodTrouble[] | undefined;
}

export const AUDIT_RESULTS = ['done', 'refused', 'failed'] as const;
export type AuditResult = (typeof AUDIT_RESULTS)[number];

/** A write through the API. */
export interface AuditEntry {
  readonly at: number;
  /** The authenticated name. */
  readonly actor: string;
  readonly action: string;
  /** The target, e.g. `Deployment/shop/web`. */
  readonly target: string;
  /** Given by the user. */
  readonly reason: string;
  readonly result: AuditResult;
  /** Code of the refusal or failure. */
  readonly code?: string | undefined;
  readonly requestId: string;
}
