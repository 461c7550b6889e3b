import { randomBytes } from 'node:crypto';
import { RECORD_ANNOTATION } from '@reroll/shared/core/record/record';
import { jobName, jobOfCronJob, NEXT_JOB_ANNOTATION } from '@reroll/shared/core/reload/job-of-cron-job';
import { pointer, type PatchOperation } from '@reroll/shared/core/reload/json-patch';
import { markedTemplate, type ReloadStrategy } from '@reroll/shared/core/reload/patch';
import type { KubeClient } from '@reroll/shared/kube/connection';
import { KubeError } from '@reroll/shared/kube/errors';
import { collectionPath, objectPath, type KubeObject } from '@reroll/shared/kube/objects';
import type { CronJobObject } from '@reroll/shared/kube/workloads/cron-job';
import type { WorkloadNow } from '../workload-reader.ts';
import { isOvertaken } from './overtaken.ts';
import type { Reload, ReloadWay, Sent } from './reload-way.ts';

export interface RunCronJobContext {
  readonly client: Pick<KubeClient, 'get' | 'post' | 'patch'>;
  readonly strategy: ReloadStrategy;
  readonly fieldManager: string;
  readonly markerAnnotation: string;
}

const JOBS = { group: 'batch', version: 'v1', plural: 'jobs' };

type JobObject = KubeObject & {
  readonly metadata: { readonly ownerReferences?: readonly { readonly uid: string }[] };
};

/**
 * Reloads a CronJob by creating a Job of it; the CronJob's template is never changed.
 *
 * 1. The CronJob carries the end of its next Job's name (`reroll.dev/next-job`). If not, it gets one, and all is
 *    decided anew.
 * 2. The Job of that name is created; it carries the record that it stands for.
 * 3. The CronJob gets that record and the name of the Job after it, in one patch.
 *
 * Who repeats this after a death between 2 and 3 meets the Job of that name, gives the CronJob its record, and
 * decides anew what is owed beyond it. So there is one Job for what was owed, whatever changed meanwhile.
 */
export class RunCronJob implements ReloadWay {
  readonly reason = 'JobCreated';
  readonly #context: RunCronJobContext;

  constructor(context: RunCronJobContext) {
    this.#context = context;
  }

  heldBack({ object }: WorkloadNow): 'CronJobSuspended' | undefined {
    return (object as CronJobObject).spec?.suspend === true ? 'CronJobSuspended' : undefined;
  }

  async send(reload: Reload): Promise<Sent | false> {
    return (await this.#send(reload)) && {};
  }

  async #send(reload: Reload): Promise<boolean> {
    const { workload, rolled, record } = reload;
    if (rolled.length === 0) return this.#write(workload, record, nextOf(workload) ?? suffix());
    const next = nextOf(workload);
    if (next === undefined) {
      await this.#write(workload, workload.observed.record, suffix());
      return false;
    }
    const carried = await this.#create(reload, jobName(workload.object.metadata.name, next));
    const written = await this.#write(workload, carried ?? workload.observed.record, suffix());
    return written && carried === record;
  }

  /** The record that the Job of this name carries; undefined if it is not this CronJob's. */
  async #create(reload: Reload, name: string): Promise<string | undefined> {
    const { client, fieldManager } = this.#context;
    const path = collectionPath(JOBS, reload.workload.observed.namespace);
    try {
      await client.post(path, this.#job(reload, name), { query: { fieldManager } });
      return reload.record;
    } catch (error) {
      if (!(error instanceof KubeError) || error.reason !== 'AlreadyExists') throw error;
      return this.#recordOf(reload.workload, name);
    }
  }

  async #recordOf({ object }: WorkloadNow, name: string): Promise<string | undefined> {
    const { namespace, uid } = object.metadata;
    const { body } = await this.#context.client.get<JobObject>(objectPath(JOBS, { namespace, name }));
    const isOwn = body.metadata.ownerReferences?.some((owner) => owner.uid === uid);
    return isOwn ? body.metadata.annotations?.[RECORD_ANNOTATION] : undefined;
  }

  #job({ workload, rolled, record }: Reload, name: string): object {
    const { strategy, markerAnnotation } = this.#context;
    const { metadata, spec } = workload.object as CronJobObject;
    const now = Math.floor(Date.now() / 1000);
    const template = markedTemplate({ template: workload.template, strategy, rolled, markerAnnotation, now });
    return jobOfCronJob({ cronJob: metadata, jobTemplate: spec?.jobTemplate ?? {}, template, name, record });
  }

  /** False if the CronJob has another record, or awaits another Job, than was read. */
  async #write(workload: WorkloadNow, record: string | undefined, next: string): Promise<boolean> {
    const { client, fieldManager } = this.#context;
    const wanted = {
      ...(record === undefined ? {} : { [RECORD_ANNOTATION]: record }),
      [NEXT_JOB_ANNOTATION]: next,
    };
    try {
      const path = objectPath(workload.definition, workload.object.metadata);
      await client.patch(path, annotationsPatch(workload.object, wanted), { query: { fieldManager } });
      return true;
    } catch (error) {
      if (isOvertaken(error)) return false;
      throw error;
    }
  }
}

function nextOf({ object }: WorkloadNow): string | undefined {
  const next = object.metadata.annotations?.[NEXT_JOB_ANNOTATION];
  return next !== undefined && /^[a-z0-9]{1,10}$/u.test(next) ? next : undefined;
}

function suffix(): string {
  return randomBytes(5).toString('hex');
}

/** Sets annotations of the very object that was read, if they are as they were then. */
function annotationsPatch(
  { metadata }: KubeObject,
  wanted: Readonly<Record<string, string>>,
): PatchOperation[] {
  const uid: PatchOperation = { op: 'test', path: '/metadata/uid', value: metadata.uid };
  const base = '/metadata/annotations';
  const { annotations } = metadata;
  if (!annotations) {
    return [uid, { op: 'test', path: base, value: null }, { op: 'add', path: base, value: wanted }];
  }
  const keys = [RECORD_ANNOTATION, NEXT_JOB_ANNOTATION];
  const tests = keys.map((key): PatchOperation => ({
    op: 'test',
    path: pointer(base, key),
    value: annotations[key] ?? null,
  }));
  const adds = Object.entries(wanted).map(([key, value]): PatchOperation => ({
    op: 'add',
    path: pointer(base, key),
    value,
  }));
  return [uid, ...tests, ...adds];
}
