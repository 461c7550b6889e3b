import type { Annotations, PodTemplate } from '../model.ts';
import { RECORD_ANNOTATION } from '../record/record.ts';
import type { WorkloadRow } from '../state/rows.ts';
import { longestJobName, type JobSize } from './longest-job-name.ts';

/**
 * Annotation of a CronJob: the suffix of its next Job's name. It is written before it is needed, and renewed with the record of
 * each Job, so that a repeated reload finds the Job that already exists.
 */
export const NEXT_JOB_ANNOTATION = 'reroll.dev/next-job';

/** Returns `<CronJob>-<suffix>`, with the CronJob's part cut to what a Job of its template may have. */
export function jobName(cronJob: string, suffix: string, template?: JobSize): string {
  return `${cronJob.slice(0, longestJobName(template) - 1 - suffix.length)}-${suffix}`;
}

export interface JobInput {
  readonly cronJob: { readonly name: string; readonly namespace: string; readonly uid: string };
  readonly jobTemplate: {
    readonly metadata?: {
      readonly labels?: Readonly<Record<string, string>>;
      readonly annotations?: Annotations;
    };
    readonly spec?: object;
  };
  /** The pod template with its markers. */
  readonly template: PodTemplate;
  readonly name: string;
  /** The record that the CronJob gets for this Job. */
  readonly record: string;
}

/**
 * Returns the Job that a reload of a CronJob creates, as stakater/Reloader and `kubectl create job --from` make it: from the
 * CronJob's template and owned by the CronJob. In addition, it carries the record.
 */
export function jobOfCronJob({ cronJob, jobTemplate, template, name, record }: JobInput): object {
  const { labels, annotations } = jobTemplate.metadata ?? {};
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name,
      namespace: cronJob.namespace,
      ...(labels ? { labels } : {}),
      annotations: {
        'cronjob.kubernetes.io/instantiate': 'manual',
        ...annotations,
        [RECORD_ANNOTATION]: record,
      },
      ownerReferences: [
        { apiVersion: 'batch/v1', kind: 'CronJob', name: cronJob.name, uid: cronJob.uid, controller: true },
      ],
    },
    spec: { ...jobTemplate.spec, template },
  };
}

/** Whether a change is only recorded, because the workload is a suspended CronJob. `cronJobStrategy`: default `run`. */
export function isOnlyRecorded(
  { isSuspended }: Pick<WorkloadRow, 'isSuspended'>,
  { cronJobStrategy }: { readonly cronJobStrategy?: 'run' | 'patch' | undefined },
): boolean {
  return isSuspended === true && cronJobStrategy !== 'patch';
}
