import type { Annotations, PodTemplate } from '../model.ts';
import { RECORD_ANNOTATION } from '../record/record.ts';

/**
 * On a CronJob's metadata: the end of the name that its next Job gets. It is written before there is need of it,
 * and anew with the record of each Job, so that whoever repeats a reload meets the Job that is there already.
 */
export const NEXT_JOB_ANNOTATION = 'reroll.dev/next-job';

const MAX_NAME = 63;

/** `<CronJob>-<suffix>`, the CronJob's part cut so that the whole has at most 63 characters. */
export function jobName(cronJob: string, suffix: string): string {
  return `${cronJob.slice(0, MAX_NAME - 1 - suffix.length)}-${suffix}`;
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
  /** Text of the record that the CronJob gets for this Job. */
  readonly record: string;
}

/**
 * The Job that a reload of a CronJob creates, as stakater/Reloader makes it (and `kubectl create job --from`): of
 * the CronJob's template, owned by it. Besides, it carries the record that belongs to it.
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
