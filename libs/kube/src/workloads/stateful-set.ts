import type { PodTemplate } from '@reroll/core/model';
import type { RolloutCode, RolloutStatus } from '@reroll/core/rollouts/rollout';
import type { KubeObject } from '../objects.ts';
import { isObserved, type WorkloadKindDefinition } from './definition.ts';

interface StatefulSetObject extends KubeObject {
  readonly spec?: {
    readonly replicas?: number;
    readonly template?: PodTemplate;
    readonly updateStrategy?: {
      readonly type?: string;
      readonly rollingUpdate?: { readonly partition?: number };
    };
  };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly updatedReplicas?: number;
    readonly readyReplicas?: number;
    readonly currentRevision?: string;
    readonly updateRevision?: string;
  };
}

function onDelete(object: StatefulSetObject): boolean {
  return object.spec?.updateStrategy?.type === 'OnDelete';
}

/** Pods of the present template. */
function updatedOf(status: NonNullable<StatefulSetObject['status']>): number {
  const { updatedReplicas = 0, readyReplicas = 0, currentRevision, updateRevision } = status;
  // Once all pods are updated, the update revision becomes the current one; some versions then count no updated pods.
  const promoted = currentRevision !== undefined && currentRevision === updateRevision;
  return promoted ? Math.max(updatedReplicas, readyReplicas) : updatedReplicas;
}

/** The counts that decide, with the API's defaults. */
function countsOf({
  spec,
  status,
}: StatefulSetObject): Record<'desired' | 'updated' | 'ready' | 'partition', number> {
  const desired = spec?.replicas ?? 1;
  const partition = Math.min(desired, spec?.updateStrategy?.rollingUpdate?.partition ?? 0);
  return { desired, partition, updated: updatedOf(status ?? {}), ready: status?.readyReplicas ?? 0 };
}

/** As `kubectl rollout status`, which does not know OnDelete. */
function codeOf(object: StatefulSetObject): RolloutCode {
  const { desired, updated, ready, partition } = countsOf(object);
  if (!isObserved(object, object.status?.observedGeneration)) return 'NotObserved';
  if (onDelete(object) && updated < desired) return 'AwaitingDeletion';
  if (ready < desired) return 'Unavailable';
  if (updated < desired - partition) return 'Updating';
  return updated < desired ? 'PartitionComplete' : 'Complete';
}

function rolloutStatus(object: StatefulSetObject): RolloutStatus {
  const code = codeOf(object);
  const { updated, ready, desired } = countsOf(object);
  const done = code === 'Complete' || code === 'PartitionComplete';
  return { state: done ? 'complete' : 'progressing', code, updated, ready, desired };
}

export const statefulSet: WorkloadKindDefinition = {
  kind: 'StatefulSet',
  reloadedBy: 'patch',
  group: 'apps',
  version: 'v1',
  plural: 'statefulsets',
  podTemplatePath: '/spec/template',
  isPatchedUnread: true,
  template: (object: StatefulSetObject) => object.spec?.template,
  rolloutStatus,
  updateStrategyOnDelete: onDelete,
};
