import type { PodTemplate } from '@reroll/core/model';
import type { JobSize } from '@reroll/core/reload/longest-job-name';
import type { RolloutStatus } from '@reroll/core/rollouts/rollout';
import type { KubeObject } from '../objects.ts';
import type { WorkloadKindDefinition } from './definition.ts';

export interface CronJobObject extends KubeObject {
  readonly spec?: {
    readonly suspend?: boolean;
    readonly jobTemplate?: {
      readonly metadata?: {
        readonly labels?: Readonly<Record<string, string>>;
        readonly annotations?: Readonly<Record<string, string>>;
      };
      readonly spec?: JobSize & { readonly template?: PodTemplate };
    };
  };
  readonly status?: { readonly active?: readonly unknown[] };
}

/** A CronJob has no rollout: each run reads the data of its time. */
function rolloutStatus({ status }: CronJobObject): RolloutStatus {
  const active = status?.active?.length ?? 0;
  return { state: 'complete', code: 'Complete', updated: active, ready: active, desired: active };
}

export const cronJob: WorkloadKindDefinition = {
  kind: 'CronJob',
  reloadedBy: 'cronJobRun',
  group: 'batch',
  version: 'v1',
  plural: 'cronjobs',
  podTemplatePath: '/spec/jobTemplate/spec/template',
  template: (object: CronJobObject) => object.spec?.jobTemplate?.spec?.template,
  templateStartsPods: false,
  rolloutStatus,
  isSuspended: ({ spec }: CronJobObject) => spec?.suspend === true,
  updateStrategyOnDelete: () => false,
};
