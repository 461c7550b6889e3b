import { randomBytes } from 'node:crypto';
import type { PodTemplate } from '@reroll/core/model';
import { readRecord, RECORD_ANNOTATION } from '@reroll/core/record/record';
import { jobName, jobOfCronJob, NEXT_JOB_ANNOTATION } from '@reroll/core/reload/job-of-cron-job';
import { pointer, type PatchOperation } from '@reroll/core/reload/json-patch';
import { isRequestId, REQUEST_ANNOTATION } from '@reroll/core/reload/request';
import { markedTemplate, type ReloadStrategy } from '@reroll/core/reload/patch';
import type { KubeClient } from '@reroll/kube/client/connection';
import { KubeError } from '@reroll/kube/client/errors';
import { collectionPath, objectPath, type KubeObject } from '@reroll/kube/objects';
import type { CronJobObject } from '@reroll/kube/workloads/cron-job';
import type { WorkloadNow } from '../workload-reader.ts';
import { isOvertaken, type Reload, type ReloadWay, type Sent } from './reload-way.ts';

export interface RunCronJobContext {
  readonly client: Pick<KubeClient, 'get' | 'post' | 'patch'>;
  readonly strategy: ReloadStrategy;
  readonly fieldManager: string;
  readonly markerAnnotation: string;
}

const JOBS = { group: 'batch', version: 'v1', plural: 'jobs' };

type JobObject = KubeObject & {
  readonly metadata: { readonly ownerReferences?: readonly { readonly uid: string }[] };
  readonly spec?: { readonly template?: PodTemplate };
};

/** What a Job of ours was created for. */
interface Carried {
  readonly record: string | undefined;
  readonly request?: string | undefined;
}

/**
 * Reloads a CronJob by creating a Job from it, in three steps. The CronJob's template is never changed.
 *
 * 1. The CronJob's annotation `reroll.dev/next-job` holds the end of its next Job's name. If it is missing, it is added,
 *    and everything is decided again.
 * 2. The Job of that name is created, with the record that it was created for.
 * 3. One patch gives the CronJob that record and the name of the Job after it.
 *
 * If a worker dies between 2 and 3, or the answer to 2 is lost, the next attempt finds the Job of that name, copies its record to
 * the CronJob, and decides again what else is pending, also if the source went back meanwhile and nothing seems to be. So what
 * was pending leads to one Job, whatever changed meanwhile.
 */
export class RunCronJob implements ReloadWay {
  readonly reason = 'JobCreated';
  readonly #context: RunCronJobContext;

  constructor(context: RunCronJobContext) {
    this.#context = context;
  }

  heldBack({ observed }: WorkloadNow): 'CronJobSuspended' | undefined {
    return observed.isSuspended ? 'CronJobSuspended' : undefined;
  }

  async catchUp(workload: WorkloadNow): Promise<boolean> {
    const next = nextOf(workload);
    if (next === undefined) return false;
    const carried = await this.#carriedBy(workload, nextJobName(workload.object, next));
    if (carried === undefined) return false;
    await this.#write(workload, {
      ...carried,
      record: carried.record ?? workload.observed.record,
      next: suffix(),
    });
    return true;
  }

  async send(reload: Reload): Promise<Sent | false | undefined> {
    return (await this.#send(reload)) && {};
  }

  async #send(reload: Reload): Promise<boolean | undefined> {
    const { workload, rolled, record, request } = reload;
    if (rolled.length === 0 && request === undefined)
      return this.#write(workload, { record, next: nextOf(workload) ?? suffix() });
    const held = workload.observed.record;
    const next = nextOf(workload);
    if (next === undefined) return this.#nameFirst(workload);
    const carried = await this.#create(reload, nextJobName(workload.object, next));
    const written = await this.#write(workload, {
      record: carried?.record ?? held,
      request: carried?.request,
      next: suffix(),
    });
    return written && standsFor(carried, reload);
  }

  /** Names the first Job, before which none is created. */
  async #nameFirst(workload: WorkloadNow): Promise<false | undefined> {
    const isNamed = await this.#write(workload, { record: workload.observed.record, next: suffix() });
    return isNamed ? undefined : false;
  }

  /**
   * Creates the Job and returns what it stands for. If the name is taken, returns what that Job stands for, or undefined
   * if it does not belong to this CronJob.
   */
  async #create(reload: Reload, name: string): Promise<Carried | undefined> {
    const { client, fieldManager } = this.#context;
    const path = collectionPath(JOBS, reload.workload.observed.namespace);
    try {
      await client.post(path, this.#job(reload, name), { query: { fieldManager } });
      return { record: reload.record, request: reload.request };
    } catch (error) {
      if (!(error instanceof KubeError) || error.reason !== 'AlreadyExists') throw error;
      return this.#carriedBy(reload.workload, name);
    }
  }

  /** What the Job of that name stands for; undefined if there is none that belongs to this CronJob. */
  async #carriedBy({ object }: WorkloadNow, name: string): Promise<Carried | undefined> {
    const { namespace, uid } = object.metadata;
    const body = await this.#jobNamed({ namespace, name });
    const isOwn = body?.metadata.ownerReferences?.some((owner) => owner.uid === uid);
    if (!body || !isOwn) return undefined;
    const record = body.metadata.annotations?.[RECORD_ANNOTATION];
    const request = body.spec?.template?.metadata?.annotations?.[REQUEST_ANNOTATION];
    return carriedIn(record, request);
  }

  async #jobNamed(job: { namespace: string; name: string }): Promise<JobObject | undefined> {
    try {
      const { body } = await this.#context.client.get<JobObject>(objectPath(JOBS, job));
      return body;
    } catch (error) {
      if (error instanceof KubeError && error.status === 404) return undefined;
      throw error;
    }
  }

  #job({ workload, rolled, record, request }: Reload, name: string): object {
    const { strategy, markerAnnotation } = this.#context;
    const { metadata, spec } = workload.object as CronJobObject;
    const now = Math.floor(Date.now() / 1000);
    const marks = { strategy, rolled, markerAnnotation, now, request };
    const template = markedTemplate({ template: workload.template, ...marks });
    return jobOfCronJob({ cronJob: metadata, jobTemplate: spec?.jobTemplate ?? {}, template, name, record });
  }

  /** False if the CronJob's record or next Job has changed since it was read. */
  async #write(
    workload: WorkloadNow,
    { record, request, next }: Carried & { next: string },
  ): Promise<boolean> {
    const { client, fieldManager } = this.#context;
    const wanted = {
      ...(record === undefined ? {} : { [RECORD_ANNOTATION]: record }),
      ...(request === undefined ? {} : { [REQUEST_ANNOTATION]: request }),
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

/** Whoever may create Jobs can forge one, so only what has the form of a record and of a request's id gets from it to the CronJob. */
function carriedIn(record: string | undefined, request: string | undefined): Carried {
  return {
    record: readRecord(record).state === 'read' ? record : undefined,
    request: request !== undefined && isRequestId(request) ? request : undefined,
  };
}

/** Whether the Job stands for this reload, and not for what an earlier attempt found. */
function standsFor(carried: Carried | undefined, { record, request }: Reload): boolean {
  return carried?.record === record && (request === undefined || carried.request === request);
}

function nextOf({ object }: WorkloadNow): string | undefined {
  const next = object.metadata.annotations?.[NEXT_JOB_ANNOTATION];
  return next !== undefined && /^[a-z0-9]{1,10}$/u.test(next) ? next : undefined;
}

function nextJobName({ metadata, spec }: CronJobObject, next: string): string {
  return jobName(metadata.name, next, spec?.jobTemplate?.spec);
}

function suffix(): string {
  return randomBytes(5).toString('hex');
}

/** Sets annotations of the object, if it and they are as they were read. */
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
