import type { PodTemplate, WorkloadKind } from '@reroll/core/model';
import type { Reason } from '@reroll/core/reasons';
import type { RolloutStatus } from '@reroll/core/rollouts/rollout';
import type { KubeObject, KubeResource } from '../objects.ts';

/**
 * How new pods are had.
 * - `patch`: the pod template is changed, and the kind's own controller replaces them.
 * - `cronJobRun`: a Job is made of the CronJob's template.
 * - `recreation`: the workload is deleted and created anew.
 */
export type ReloadedBy = 'patch' | 'cronJobRun' | 'recreation';

/** What of the options decides about kinds whose API may be missing. */
export interface WorkloadKindOptions {
  readonly isArgoRollouts: boolean;
  readonly isOpenshift: boolean | 'auto';
}

/** Everything that is particular about a kind of workload. One file per kind; listed in the registry. */
export interface WorkloadKindDefinition extends KubeResource {
  readonly kind: WorkloadKind;
  readonly reloadedBy: ReloadedBy;
  /**
   * Of a kind that comes with a CRD or an aggregated API: whether it is to be followed as long as the server
   * has it. Kinds without this are always there.
   */
  readonly isWanted?: (options: WorkloadKindOptions) => boolean;
  /** JSON pointer of the pod template: where markers are patched in. */
  readonly podTemplatePath: string;
  template(object: KubeObject): PodTemplate | undefined;
  /** Of a kind whose objects can have the pod template of another workload of their namespace: whose, if so. */
  templateFrom?(object: KubeObject): { readonly kind: WorkloadKind; readonly name: string } | undefined;
  /** The field (RFC 3339) that has pods of an earlier creation replaced under the same template, if the kind has one. */
  readonly restartAt?: { readonly path: string; read(object: KubeObject): string | undefined };
  /** Only of a kind whose rollout can be held back by `/spec/paused`: whether it is. */
  isPaused?(object: KubeObject): boolean;
  rolloutStatus(object: KubeObject): RolloutStatus;
  /** Why an object of this kind, as it is, is not to be reloaded, if so. */
  leftAlone?(object: KubeObject): Reason | undefined;
  /** Whether a write of the template starts pods; default true. */
  readonly templateStartsPods?: boolean;
  /** Whether patching the template restarts nothing by itself. */
  updateStrategyOnDelete(object: KubeObject): boolean;
}

/** Whether the kind's controller has acted on the present generation. */
export function isObserved(object: KubeObject, observedGeneration: number | undefined): boolean {
  return (observedGeneration ?? 0) >= (object.metadata.generation ?? 0);
}
