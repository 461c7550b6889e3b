import type { DecisionSettings } from '../rules/decision.ts';
import { ROWS_PER_SLICE } from './slices.ts';
import { NO_TRIGGERS, type Triggers } from './triggers.ts';

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
