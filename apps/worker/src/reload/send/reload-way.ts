import type { Reason } from '@reroll/core/reasons';
import type { RolledSource } from '@reroll/core/reload/patch';
import { KubeError } from '@reroll/kube/client/errors';
import type { WorkloadNow } from '../workload-reader.ts';

/** What to send for a workload that was just read. */
export interface Reload {
  readonly workload: WorkloadNow;
  /** Sources for which new pods start. Empty: only the record is written. */
  readonly rolled: readonly RolledSource[];
  readonly record: string;
  /** The id of the manual reload for which new pods start. */
  readonly request?: string | undefined;
}

/** What a reload reveals about the workload. */
export interface Sent {
  /** The workload's generation after the reload; undefined if the reload does not change it. */
  readonly generation?: number | undefined;
}

/** A way of reloading, chosen by the workload kind's `reloadedBy`. One file each, listed in `reload-ways.ts`. */
export interface ReloadWay {
  /** The reason of the outcome. Default: that of a patched workload. */
  readonly reason?: Reason;
  /** Why a pending reload is only recorded; undefined if it is done. */
  heldBack?(workload: WorkloadNow): Reason | undefined;
  /** Finishes a reload that another worker left half done, if the workload is such a remainder; otherwise undefined. */
  carryOn?(workload: WorkloadNow): Promise<Reason | undefined>;
  /**
   * Records a reload that an earlier attempt did and could not record. Called if nothing is to be reloaded. False: there is none;
   * otherwise the workload must be read and decided again.
   */
  catchUp?(workload: WorkloadNow): Promise<boolean>;
  /** For a dry run: throws a `JobError` if `send` would throw it without sending anything. */
  requireRoom?(reload: Reload): void;
  /**
   * Sends the reload. False if the workload has changed since it was read, or if another worker does the reload: it must be read and
   * decided again. Undefined if that is so although nobody else wrote: too little is known of a workload that was not read, or the
   * reload has a step before it. Rejects with a `KubeError`. Sending twice reloads once.
   */
  send(reload: Reload): Promise<Sent | false | undefined>;
}

/**
 * Whether the object has changed since it was read. A failed `test` is 422 without causes (an invalid object has causes);
 * the next read shows what a 404 or 409 is about.
 */
export function isOvertaken(error: unknown): boolean {
  if (!(error instanceof KubeError)) return false;
  return error.status === 404 || error.status === 409 || (error.status === 422 && error.causes.length === 0);
}
