import type { Reason } from '@reroll/core/reasons';
import type { RolledSource } from '@reroll/core/reload/patch';
import { KubeError } from '@reroll/kube/client/errors';
import type { WorkloadNow } from '../workload-reader.ts';

/** What is to be sent for a workload that was just read. */
export interface Reload {
  readonly workload: WorkloadNow;
  /** Sources for which new pods are to start. Empty: only the record is written. */
  readonly rolled: readonly RolledSource[];
  /** Text of the new record. */
  readonly record: string;
  /** Id of the reload that a person asked for: new pods start for it too. */
  readonly request?: string | undefined;
}

/** What is known of a workload after a reload. */
export interface Sent {
  /** Of the workload that was reloaded; undefined: it does not tell of this reload. */
  readonly generation?: number | undefined;
}

/** A way of reloading, chosen by the workload kind's `reloadedBy`. One file each, listed in `reload-ways.ts`. */
export interface ReloadWay {
  /** What the outcome says of a workload that was reloaded so. Default: as a patched workload. */
  readonly reason?: Reason;
  /** Why a reload that is pending is only recorded; undefined: it is done. */
  heldBack?(workload: WorkloadNow): Reason | undefined;
  /** Finishes what another worker left half done, if this is what is left of it; undefined: it is not. */
  carryOn?(workload: WorkloadNow): Promise<Reason | undefined>;
  /**
   * Sends it. False if the workload is not what was read any more: nothing was done, and it is to be read and
   * decided anew. Rejects with a `KubeError`. Sending twice ends the same.
   */
  send(reload: Reload): Promise<Sent | false>;
}

/**
 * Whether a patch met another object than the one that was read. A failed `test` is 422 without causes (an
 * invalid object has causes); 404 and 409 are seen at the next read.
 */
export function isOvertaken(error: unknown): boolean {
  if (!(error instanceof KubeError)) return false;
  return error.status === 404 || error.status === 409 || (error.status === 422 && error.causes.length === 0);
}
