import type { PodTemplate } from '@reroll/core/model';
import type { Reason } from '@reroll/core/reasons';
import { PENDING_JOB_ANNOTATION } from '@reroll/core/reload/pending-job';
import type { RolloutStatus } from '@reroll/core/rollouts/rollout';
import type { KubeObject } from '../objects.ts';
import type { WorkloadKindDefinition } from './definition.ts';

interface JobObject extends KubeObject {
  readonly metadata: KubeObject['metadata'] & { readonly deletionTimestamp?: string };
  readonly spec?: { readonly completions?: number; readonly template?: PodTemplate };
  readonly status?: {
    readonly active?: number;
    readonly ready?: number;
    readonly succeeded?: number;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

function has({ status }: JobObject, condition: 'Complete' | 'Failed'): boolean {
  return (status?.conditions ?? []).some(({ type, status: state }) => type === condition && state === 'True');
}

function leftAlone(object: JobObject): Reason | undefined {
  const { annotations, ownerReferences = [], deletionTimestamp } = object.metadata;
  if (annotations?.[PENDING_JOB_ANNOTATION] !== undefined) return 'JobTwin';
  // Nothing brings it back. If a reload deletes it, its pending Job stands for it.
  if (deletionTimestamp !== undefined) return 'WorkloadGone';
  if (ownerReferences.some(({ kind, controller }) => kind === 'CronJob' && controller)) return 'JobOfCronJob';
  return has(object, 'Complete') || has(object, 'Failed') ? 'JobFinished' : undefined;
}

function rolloutStatus(object: JobObject): RolloutStatus {
  const { active = 0, ready = 0, succeeded = 0 } = object.status ?? {};
  const counts = {
    updated: active + succeeded,
    ready: ready + succeeded,
    desired: object.spec?.completions ?? 1,
  };
  if (has(object, 'Failed')) return { state: 'stuck', code: 'Failed', ...counts };
  if (has(object, 'Complete')) return { state: 'complete', code: 'Complete', ...counts };
  return { state: 'progressing', code: 'Updating', ...counts };
}

export const job: WorkloadKindDefinition = {
  kind: 'Job',
  reloadedBy: 'recreation',
  group: 'batch',
  version: 'v1',
  plural: 'jobs',
  podTemplatePath: '/spec/template',
  template: (object: JobObject) => object.spec?.template,
  leftAlone,
  rolloutStatus,
  updateStrategyOnDelete: () => false,
};
