import type { DecisionSettings } from '../rules/decision.ts';
import { ROWS_PER_SLICE } from './slices.ts';

export interface ClusterStateSettings {
  readonly decision: DecisionSettings;
  /** When this install adopted the cluster, in Unix seconds by the API server's clock (stored on the Lease). */
  readonly adoptedAt: number;
  /** Whether the last leader had another scope, so that rows of the catalog may lack dependencies. Default false. */
  readonly isScopeNew?: boolean;
  /** Default: only a change of data reloads. */
  readonly triggers?: Triggers;
  /** Rows to process before other work may run. Default `ROWS_PER_SLICE`. */
  readonly rowsPerSlice?: number;
  /**
   * If true, the owner evaluates the users of changed sources later by calling `evaluation`: in slices, and many events of a source
   * as one. Default false: with the event. `evaluation` always judges what patterns leave over.
   */
  readonly evaluatesLater?: boolean;
}

export function withDefaults(settings: ClusterStateSettings): Required<ClusterStateSettings> {
  return {
    triggers: NO_TRIGGERS,
    rowsPerSlice: ROWS_PER_SLICE,
    evaluatesLater: false,
    isScopeNew: false,
    ...settings,
  };
}

/** What reloads a workload besides a change of data (`--reload-on-create`, `--reload-on-delete`, `--sync-after-restart`). */
export interface Triggers {
  /** A source is created that did not exist when the workload's pod template was written. */
  readonly onCreate: boolean;
  /**
   * A source is deleted that the record names. `marked`: only if a container carries its variable, because the env-vars strategy
   * can remove nothing else; such a workload was reloaded for the source before.
   */
  readonly onDelete: 'never' | 'marked' | 'always';
  /** With `onCreate`: sources that exist at a start count as created for workloads that have not recorded them. */
  readonly afterRestart: boolean;
  /**
   * Changes are posted to `--webhook-url`: a creation or deletion that counts gets a change job even if no workload uses the
   * source. Default false.
   */
  readonly announced?: boolean;
}

export const NO_TRIGGERS: Triggers = Object.freeze({
  onCreate: false,
  onDelete: 'never',
  afterRestart: false,
});
