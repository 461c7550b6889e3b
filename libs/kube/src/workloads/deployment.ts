import type { PodTemplate } from '@reroll/core/model';
import type { RolloutCode, RolloutStatus } from '@reroll/core/rollouts/rollout';
import type { KubeObject } from '../objects.ts';
import { isObserved, type WorkloadKindDefinition } from './definition.ts';

interface DeploymentObject extends KubeObject {
  readonly spec?: {
    readonly replicas?: number;
    readonly paused?: boolean;
    readonly template?: PodTemplate;
  };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly updatedReplicas?: number;
    readonly readyReplicas?: number;
    readonly availableReplicas?: number;
    readonly conditions?: readonly { readonly type: string; readonly reason?: string }[];
  };
}

/** The counts that decide, with the API's defaults. */
function countsOf({
  spec,
  status,
}: DeploymentObject): Record<'desired' | 'all' | 'updated' | 'available', number> {
  return {
    desired: spec?.replicas ?? 1,
    all: status?.replicas ?? 0,
    updated: status?.updatedReplicas ?? 0,
    available: status?.availableReplicas ?? 0,
  };
}

function deadlineExceeded({ status }: DeploymentObject): boolean {
  return (status?.conditions ?? []).some(
    ({ type, reason }) => type === 'Progressing' && reason === 'ProgressDeadlineExceeded',
  );
}

function pausedMidway(object: DeploymentObject): boolean {
  const { desired, all, updated } = countsOf(object);
  return object.spec?.paused === true && (updated < desired || all > updated);
}

/** As `kubectl rollout status`, plus `Paused`; the first condition that holds decides. */
function codeOf(object: DeploymentObject): RolloutCode {
  const { desired, all, updated, available } = countsOf(object);
  if (!isObserved(object, object.status?.observedGeneration)) return 'NotObserved';
  if (deadlineExceeded(object)) return 'ProgressDeadlineExceeded';
  if (pausedMidway(object)) return 'Paused';
  if (updated < desired) return 'Updating';
  if (all > updated) return 'OldPodsPending';
  return available < updated ? 'Unavailable' : 'Complete';
}

/** Also for kinds whose status has the same fields. */
export function deploymentRollout(object: DeploymentObject): RolloutStatus {
  const code = codeOf(object);
  const { updated, desired } = countsOf(object);
  const ready = object.status?.readyReplicas ?? 0;
  if (code === 'ProgressDeadlineExceeded') return { state: 'stuck', code, updated, ready, desired };
  return { state: code === 'Complete' ? 'complete' : 'progressing', code, updated, ready, desired };
}

export const deployment: WorkloadKindDefinition = {
  kind: 'Deployment',
  reloadedBy: 'patch',
  group: 'apps',
  version: 'v1',
  plural: 'deployments',
  podTemplatePath: '/spec/template',
  isPatchedUnread: true,
  template: (object: DeploymentObject) => object.spec?.template,
  isPaused: (object: DeploymentObject) => object.spec?.paused === true,
  rolloutStatus: deploymentRollout,
  updateStrategyOnDelete: () => false,
};
