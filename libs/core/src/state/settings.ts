import type { DecisionSettings } from '../rules/decision.ts';
import { ROWS_PER_SLICE } from './slices.ts';

export interface ClusterStateSettings {
  readonly decision: DecisionSettings;
  /** When this install adopted the cluster, Unix seconds by the API server's clock (kept on the Lease). */
  readonly adoptedAt: number;
  /** Default: only a change of data rolls. */
  readonly triggers?: Triggers;
  /** Rows that are worked on before other work may come in between. Default `ROWS_PER_SLICE`. */
  readonly rowsPerSlice?: number;
  /**
   * Whether the users of a source that changed are evaluated later, by the owner's calls of `evaluation`: in slices, and
   * many events of one source as one. Default false: with the event itself. What patterns leave over is by `evaluation`
   * in any case.
   */
  readonly evaluatesLater?: boolean;
}

export function withDefaults(settings: ClusterStateSettings): Required<ClusterStateSettings> {
  return { triggers: NO_TRIGGERS, rowsPerSlice: ROWS_PER_SLICE, evaluatesLater: false, ...settings };
}

/** What rolls a workload besides a change of data (`--reload-on-create`, `--reload-on-delete`, `--sync-after-restart`). */
export interface Triggers {
  /** A source comes to exist that did not when the workload's pod template was written. */
  readonly onCreate: boolean;
  /**
   * A source that the record names is deleted. `marked`: only where a container carries its variable, which
   * is all that the env-vars strategy can take away; such a workload was rolled for it before.
   */
  readonly onDelete: 'never' | 'marked' | 'always';
  /** With `onCreate`: what exists at a start counts as created, for workloads without a record of it. */
  readonly afterRestart: boolean;
  /**
   * Changes are told to somebody (`--webhook-url`): a creation or deletion that counts gives a change job too,
   * whether or not a workload uses the source. Default false.
   */
  readonly announced?: boolean;
}

export const NO_TRIGGERS: Triggers = Object.freeze({
  onCreate: false,
  onDelete: 'never',
  afterRestart: false,
});
