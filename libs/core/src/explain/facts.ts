import type { AnnotationKeys } from '../annotations/annotation-keys.ts';
import { sourceAnnotations } from '../state/observe.ts';
import {
  NO_ANNOTATIONS,
  NO_BASELINES,
  NO_NAMES,
  type ObservedWorkload,
  type SourceRow,
  type WorkloadRow,
} from '../state/rows.ts';
import type { Triggers } from '../state/settings.ts';
import type { ObjectMeta, PodSpec, SourceKey, WorkloadKey } from '../model.ts';
import type { DecisionSettings } from '../rules/decision.ts';
import { RV_UNKNOWN, parseRv } from '../rv.ts';

/** What the workers go by. */
export interface ExplainSettings {
  readonly decision: DecisionSettings;
  readonly triggers: Triggers;
  /** `--adopt-stale`. */
  readonly adoptStale: 'report' | 'reload';
  /** `--dry-run`. */
  readonly dryRun: boolean;
  /** Changes are posted to `--webhook-url`, and nothing is reloaded. */
  readonly notifyOnly: boolean;
}

/**
 * Who told of the objects. `catalog`: the leader, who knows since when each is what it is and has the hash of each
 * source's data. `cluster`: a read of metadata, which tells neither; then it is not known what is pending now.
 */
export type FactsFrom = 'catalog' | 'cluster';

export interface ExplainedWorkload {
  readonly key: WorkloadKey;
  readonly row: WorkloadRow;
  /** Of the pod template, to tell how a source is used. Undefined: whether, but not how, is known. */
  readonly podSpec?: PodSpec | undefined;
}

export interface ExplainedSource {
  readonly key: SourceKey;
  /**
   * `exists` is false if it was deleted. Undefined: nobody has seen it. From the catalog: it does not exist, or is not
   * watched. From the cluster: it does not exist.
   */
  readonly row: SourceRow | undefined;
  /** From the cluster: whoever asks may not read it. It is taken to exist, with no annotations. */
  readonly isUnreadable?: boolean;
}

/** A workload, and a source of its namespace. */
export interface ExplainInput {
  readonly workload: ExplainedWorkload;
  readonly source: ExplainedSource;
  readonly settings: ExplainSettings;
  readonly from: FactsFrom;
  /** Of the queues that a change goes through, those that somebody paused. Default none. */
  readonly pausedQueues?: readonly string[];
}

/**
 * A workload read from the cluster (`observed()` and, for a Rollout with a `workloadRef`, `withTemplateOf()`). Nothing
 * dates it, so it is taken to be as it is since its last write.
 */
export function workloadFromCluster(
  observed: ObservedWorkload,
  podSpec: PodSpec | undefined,
): ExplainedWorkload {
  const { key, kind: _kind, namespace: _namespace, writtenAt: _at, templateFrom: _from, ...seen } = observed;
  const none = { dependencies: NO_NAMES, unverified: NO_NAMES, baselines: NO_BASELINES, stale: NO_NAMES };
  return { key, row: { ...seen, ...none, templateRv: observed.rv }, podSpec };
}

/** A source of which metadata alone were read; null: it does not exist; `forbidden`: they may not be read. */
export function sourceFromCluster(
  key: SourceKey,
  metadata: Pick<ObjectMeta, 'resourceVersion' | 'annotations'> | null | 'forbidden',
  keys: AnnotationKeys,
): ExplainedSource {
  if (metadata === null) return { key, row: undefined };
  const unknown = { hash: '', dataRv: RV_UNKNOWN, exists: true, modifiedAt: 0 };
  if (metadata === 'forbidden')
    return { key, row: { ...unknown, rv: RV_UNKNOWN, annotations: NO_ANNOTATIONS }, isUnreadable: true };
  const rv = parseRv(metadata.resourceVersion);
  return { key, row: { ...unknown, rv, annotations: sourceAnnotations(metadata.annotations, keys) } };
}
