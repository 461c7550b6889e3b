import type { Excess } from '../annotations/annotation-limits.ts';
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
import type { NamespaceHolds, ReloadHold } from '../holds/hold.ts';
import type { HoldDefaults } from '../holds/reload-hold.ts';
import type { Triggers } from '../state/settings.ts';
import type { ObjectMeta, PodSpec, SourceKey, WorkloadKey } from '../model.ts';
import type { DecisionSettings } from '../rules/decision.ts';
import { RV_UNKNOWN, parseRv } from '../rv.ts';

export interface ExplainSettings {
  readonly decision: DecisionSettings;
  readonly triggers: Triggers;
  /** `--adopt-stale`. */
  readonly adoptStale: 'report' | 'reload';
  /** `--dry-run`. */
  readonly dryRun: boolean;
  /** With `--webhook-url`, changes are posted and nothing is reloaded. */
  readonly notifyOnly: boolean;
  /** `--cronjob-strategy`. Default `run`. */
  readonly cronJobStrategy?: 'run' | 'patch' | undefined;
  /** The holds that the flags of the workers set. Undefined: they are not known. */
  readonly holds?: HoldDefaults | undefined;
}

/**
 * The origin of the facts. `catalog`: from the leader, with dates and the hash of each source's data. `cluster`: from a read of
 * metadata, without dates and hashes, so that what is pending now is not known.
 */
export type FactsFrom = 'catalog' | 'cluster';

export interface ExplainedWorkload {
  readonly key: WorkloadKey;
  readonly row: WorkloadRow;
  /** The pod template, to tell how a source is used. Undefined: only whether it is used is known. */
  readonly podSpec?: PodSpec | undefined;
  /** From the cluster, for a Rollout with a `workloadRef`: the limit that its Deployment exceeds. */
  readonly ownerExcess?: Excess | undefined;
}

export interface ExplainedSource {
  readonly key: SourceKey;
  /**
   * `exists` is false if the source was deleted. Undefined: from the catalog, the source does not exist or is not watched; from the
   * cluster, it does not exist.
   */
  readonly row: SourceRow | undefined;
  /** From the cluster: the caller may not read it. It is assumed to exist, without annotations. */
  readonly isUnreadable?: boolean;
  /** From the cluster, to tell whether it is watched. */
  readonly labels?: ObjectMeta['labels'];
}

export interface ExplainInput {
  readonly workload: ExplainedWorkload;
  readonly source: ExplainedSource;
  readonly settings: ExplainSettings;
  readonly from: FactsFrom;
  /** Unix milliseconds, to tell what holds the workload now. Default: not told. */
  readonly now?: number;
  /** Without those that could not be read, so that it is not known what they hold. Default: none was read. */
  readonly namespaces?: Partial<NamespaceHolds>;
  /** Why the pending reload waits for its wave (`waveHold`). Default: it does not, or that is not told. */
  readonly wave?: ReloadHold | undefined;
  /** The queues of a change that are paused. Default none. */
  readonly pausedQueues?: readonly string[];
  /** The rows of `awaitedSharers`; undefined for one that is not in the catalog. Default none. */
  readonly sharers?: readonly (WorkloadRow | undefined)[];
  /** Sources that are not watched, and why, in a sentence. Default none: the catalog has only those that are. */
  readonly unwatched?: ReadonlyMap<SourceKey, string>;
}

/**
 * Returns a workload that was read from the cluster (`observed()` and, for a Rollout with a `workloadRef`, `withTemplateOf()`).
 * Nothing dates it, so it is assumed to be unchanged since its last write.
 */
export function workloadFromCluster(
  observed: ObservedWorkload,
  podSpec: PodSpec | undefined,
): ExplainedWorkload {
  const { key, kind: _kind, namespace: _namespace, writtenAt: _at, templateFrom: _from, ...seen } = observed;
  const none = { dependencies: NO_NAMES, unverified: NO_NAMES, baselines: NO_BASELINES, stale: NO_NAMES };
  return { key, row: { ...seen, ...none, templateRv: observed.rv }, podSpec };
}

/** Returns a source of which only metadata was read; null: it does not exist; `forbidden`: it may not be read. */
export function sourceFromCluster(
  key: SourceKey,
  metadata: Pick<ObjectMeta, 'resourceVersion' | 'annotations' | 'labels'> | null | 'forbidden',
  keys: AnnotationKeys,
): ExplainedSource {
  if (metadata === null) return { key, row: undefined };
  const unknown = { hash: '', dataRv: RV_UNKNOWN, exists: true, modifiedAt: 0 };
  if (metadata === 'forbidden')
    return { key, row: { ...unknown, rv: RV_UNKNOWN, annotations: NO_ANNOTATIONS }, isUnreadable: true };
  const rv = parseRv(metadata.resourceVersion);
  const { annotations, labels } = metadata;
  return { key, row: { ...unknown, rv, annotations: sourceAnnotations(annotations, keys) }, labels };
}
