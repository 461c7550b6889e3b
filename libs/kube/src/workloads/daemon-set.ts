import type { PodTemplate } from '@reroll/core/model';
import type { RolloutCode, RolloutStatus } from '@reroll/core/rollouts/rollout';
import type { KubeObject } from '../objects.ts';
import { isObserved, type WorkloadKindDefinition } from './definition.ts';

interface DaemonSetObject extends KubeObject {
  readonly spec?: {
    readonly template?: PodTemplate;
    readonly updateStrategy?: { readonly type?: string };
  };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly desiredNumberScheduled?: number;
    readonly updatedNumberScheduled?: number;
    readonly numberReady?: number;
    readonly numberAvailable?: number;
  };
}

function onDelete(object: DaemonSetObject): boolean {
  return object.spec?.updateStrategy?.type === 'OnDelete';
}

/** As `kubectl rollout status`, which does not know OnDelete. */
function codeOf(object: DaemonSetObject): RolloutCode {
  const { status = {} } = object;
  if (!isObserved(object, status.observedGeneration)) return 'NotObserved';
  const desired = status.desiredNumberScheduled ?? 0;
  if ((status.updatedNumberScheduled ?? 0) < desired)
    return onDelete(object) ? 'AwaitingDeletion' : 'Updating';
  return (status.numberAvailable ?? 0) < desired ? 'Unavailable' : 'Complete';
}

function rolloutStatus(object: DaemonSetObject): RolloutStatus {
  const code = codeOf(object);
  return {
    state: code === 'Complete' ? 'complete' : 'progressing',
    code,
    updated: object.status?.updatedNumberScheduled ?? 0,
    ready: object.status?.numberReady ?? 0,
    desired: object.status?.desiredNumberScheduled ?? 0,
  };
}

export const daemonSet: WorkloadKindDefinition = {
  kind: 'DaemonSet',
  reloadedBy: 'patch',
  group: 'apps',
  version: 'v1',
  plural: 'daemonsets',
  podTemplatePath: '/spec/template',
  isPatchedUnread: true,
  template: (object: DaemonSetObject) => object.spec?.template,
  rolloutStatus,
  updateStrategyOnDelete: onDelete,
};
