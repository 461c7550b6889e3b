import type { PodTemplate, WorkloadKind } from '../../core/model.ts';
import type { KubeObject, KubeResource } from '../objects.ts';

/** Why a rollout is in its state. */
export type RolloutCode =
  /** Every pod is of the present template and available. */
  | 'Complete'
  /** Complete as far as the StatefulSet's partition lets it. */
  | 'PartitionComplete'
  /** The controller has not looked at the present generation yet. */
  | 'NotObserved'
  /** Fewer pods of the present template than wanted. */
  | 'Updating'
  /** Pods of an earlier template are still there. */
  | 'OldPodsPending'
  /** Pods of the present template are not available yet. */
  | 'Unavailable'
  /** Paused by somebody: it goes on when that is lifted. */
  | 'Paused'
  /** Update strategy OnDelete: pods are replaced only when somebody deletes them. */
  | 'AwaitingDeletion'
  /** The Deployment's progressDeadlineSeconds passed without progress. */
  | 'ProgressDeadlineExceeded';

export interface RolloutStatus {
  /** `stuck`: the cluster says that it does not get on by itself. */
  readonly state: 'progressing' | 'complete' | 'stuck';
  readonly code: RolloutCode;
  /** Pods of the present template, those of them (or of all, where the kind tells no more) ready, wanted. */
  readonly updated: number;
  readonly ready: number;
  readonly desired: number;
}

/** How new pods are had: `patch` changes the pod template, and the kind's own controller replaces them. */
export type ReloadedBy = 'patch';

/** Everything that is particular about a kind of workload. One file per kind; listed in the registry. */
export interface WorkloadKindDefinition extends KubeResource {
  readonly kind: WorkloadKind;
  readonly reloadedBy: ReloadedBy;
  /** JSON pointer of the pod template: where markers are patched in. */
  readonly podTemplatePath: string;
  template(object: KubeObject): PodTemplate | undefined;
  rolloutStatus(object: KubeObject): RolloutStatus;
  /** Whether patching the template restarts nothing by itself. */
  updateStrategyOnDelete(object: KubeObject): boolean;
}

/** Whether the kind's controller has acted on the present generation. */
export function isObserved(object: KubeObject, observedGeneration: number | undefined): boolean {
  return (observedGeneration ?? 0) >= (object.metadata.generation ?? 0);
}
