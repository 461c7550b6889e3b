import type { PodTemplate, WorkloadKind } from '@reroll/core/model';
import type { Reason } from '@reroll/core/reasons';
import type { RolloutStatus } from '@reroll/core/rollouts/rollout';
import type { KubeObject, KubeResource } from '../objects.ts';

/**
 * How a reload gets new pods.
 * - `patch`: the pod template is changed, and the kind's own controller replaces the pods.
 * - `cronJobRun`: a Job is created from the CronJob's template.
 * - `recreation`: the workload is deleted and created again.
 */
export type ReloadedBy = 'patch' | 'cronJobRun' | 'recreation';

/** The options that decide about kinds whose API may be missing. */
export interface WorkloadKindOptions {
  readonly isArgoRollouts: boolean;
  readonly isOpenshift: boolean | 'auto';
}

/** Everything specific to a kind of workload. One file per kind; listed in the registry. */
export interface WorkloadKindDefinition extends KubeResource {
  readonly kind: WorkloadKind;
  readonly reloadedBy: ReloadedBy;
  /** For a kind with a CRD or an aggregated API: whether to watch it while the server has it. Kinds without this always exist. */
  readonly isWanted?: (options: WorkloadKindOptions) => boolean;
  /** JSON Pointer of the pod template, into which markers are patched. */
  readonly podTemplatePath: string;
  template(object: KubeObject): PodTemplate | undefined;
  /** For a kind that can use the pod template of another workload in the namespace: that workload, if any. */
  templateFrom?(object: KubeObject): { readonly kind: WorkloadKind; readonly name: string } | undefined;
  /** For such a kind: the generation of that workload which its controller has processed; undefined: the controller has not said. */
  templateGeneration?(object: KubeObject): number | undefined;
  /** The field (RFC 3339) that replaces pods created earlier without a change of the template, if the kind has one. */
  readonly restartAt?: { readonly path: string; read(object: KubeObject): string | undefined };
  /** Whether the rollout is paused, for kinds with `/spec/paused`. */
  isPaused?(object: KubeObject): boolean;
  rolloutStatus(object: KubeObject): RolloutStatus;
  /** Why an object of this kind is not reloaded in its present state, if so. */
  leftAlone?(object: KubeObject): Reason | undefined;
  /** See `ObservedWorkload.isSuspended`. */
  isSuspended?(object: KubeObject): boolean;
  /** Whether a write of the template starts pods. Default true. */
  readonly templateStartsPods?: boolean;
  /**
   * Whether a worker may patch an object that it has not read: the API server moves the generation with every write of the spec, and
   * nothing but the spec and the annotations decides. Default false.
   */
  readonly isPatchedUnread?: boolean;
  /** Whether patching the template restarts no pods by itself. */
  updateStrategyOnDelete(object: KubeObject): boolean;
}

/** Whether the kind's controller has processed the present generation. */
export function isObserved(object: KubeObject, observedGeneration: number | undefined): boolean {
  return (observedGeneration ?? 0) >= (object.metadata.generation ?? 0);
}
