import { setTimeout as pause } from 'node:timers/promises';
import { keptBy, recreatedJob, pendingJobOf, type JobRead, type Kept } from '@reroll/core/reload/pending-job';
import { markedTemplate, type ReloadStrategy } from '@reroll/core/reload/patch';
import type { KubeClient } from '@reroll/kube/client/connection';
import { KubeError } from '@reroll/kube/client/errors';
import { collectionPath, objectPath, type KubeObject } from '@reroll/kube/objects';
import { job } from '@reroll/kube/workloads/job';
import { JobError, NotYetError } from '../../job-error.ts';
import type { WorkloadNow } from '../workload-reader.ts';
import type { Reload, ReloadWay, Sent } from './reload-way.ts';

export interface RecreateJobContext {
  readonly client: Pick<KubeClient, 'get' | 'post' | 'request' | 'apiTime'>;
  readonly strategy: ReloadStrategy;
  readonly fieldManager: string;
  readonly markerAnnotation: string;
  /** `--recreate-finished-jobs` */
  readonly recreateFinishedJobs: boolean;
  /** Writes a record without a reload. */
  readonly patch: ReloadWay;
}

/** A Job: the one with this uid or, with `resourceVersion`, only this version of it. */
interface Version {
  readonly uid: string;
  readonly resourceVersion?: string;
}

/** What became of the old Job. `gone`: somebody else has deleted it, or is deleting it; `replaced`: another Job has its name by now. */
type Ending = 'deleted' | 'gone' | 'replaced' | 'finished';

type JobNow = KubeObject & { readonly metadata: { readonly deletionTimestamp?: string } };

/** Times that the old Job is read and deleted while it keeps changing, before the reload job fails and is retried. */
const TRIES = 5;
/** Milliseconds before each further try to create the Job, for finalizers that their controller removes at once. */
const PAUSES = [50, 100] as const;
/** How long a Job with other finalizers is left alone, in milliseconds: half of the time for which it has been deleted, within these bounds. */
const FIRST_WAIT = 1_000;
const LAST_WAIT = 300_000;

/**
 * Reloads a Job by deleting it and creating it again. A worker can die between any two of these calls:
 *
 * 1. Dry run of the creation under the Job's own name. The API server checks everything else before it finds the name
 *    taken, so "already exists" means that nothing else is wrong. Any other error ends the reload, and nothing is lost.
 * 2. Create the pending Job, so that the API holds what the Job is to become.
 * 3. Delete the old Job, by uid and resourceVersion. If it has changed, read it again. If it has finished by then, it
 *    stays, and only the pending Job is deleted; nothing deletes the Job later, because it stays finished.
 * 4. Create the new Job, with marker and record.
 * 5. Delete the pending Job, by its uid.
 *
 * From 2 on, the watcher enqueues a reload job as long as the pending Job exists; that job does 3 to 5, which is no reload of its own. Of
 * two workers that reload the Job at once, the one that deletes it reports the reload, and the other decides again. A Job that
 * finalizers keep is left to the job of the pending Job, which comes again at growing intervals and holds no worker meanwhile.
 */
export class RecreateJob implements ReloadWay {
  readonly reason = 'JobRecreated';
  readonly #context: RecreateJobContext;

  constructor(context: RecreateJobContext) {
    this.#context = context;
  }

  async send(reload: Reload): Promise<Sent | false | undefined> {
    const { workload, rolled, record, request } = reload;
    if (rolled.length === 0 && request === undefined) return this.#context.patch.send(reload);
    const { strategy, markerAnnotation } = this.#context;
    const now = Math.floor(Date.now() / 1000);
    const template = markedTemplate({
      template: workload.template,
      strategy,
      rolled,
      markerAnnotation,
      now,
      request,
    });
    const { uid } = workload.object.metadata;
    const kept = { uid, manifest: recreatedJob(workload.object as JobRead, { template, record }) };
    if (!(await this.#wouldBeTaken(kept))) return false;
    const ending = await this.#finish(await this.#keep(kept), workload.object.metadata);
    // The generation of a new object.
    return ending === 'deleted' && { generation: 1 };
  }

  async carryOn({
    observed,
    object,
  }: WorkloadNow): Promise<'RecreationFinished' | 'JobFinished' | undefined> {
    if (observed.leftAlone !== 'JobTwin') return undefined;
    const ending = await this.#finish(object as JobRead);
    return ending === 'finished' ? 'JobFinished' : 'RecreationFinished';
  }

  /** False if the old Job is gone. Rejects if the API server would refuse the new one. */
  async #wouldBeTaken({ manifest }: Kept): Promise<boolean> {
    try {
      await this.#post(manifest, { dryRun: 'All' });
      return false;
    } catch (error) {
      if (isTaken(error)) return true;
      throw error;
    }
  }

  /** Creates the pending Job, or returns the one that this Job already has. */
  async #keep(kept: Kept): Promise<JobRead> {
    const pendingJob = pendingJobOf(kept);
    try {
      return await this.#post(pendingJob);
    } catch (error) {
      if (!isTaken(error)) throw error;
    }
    const { body } = await this.#context.client.get<JobRead>(objectPath(job, pendingJob.metadata));
    if (keptBy(body)?.uid === kept.uid) return body;
    throw new JobError('Conflicting', 'another Job already has the name of the pending Job');
  }

  /** `read` is the version of the old Job when it had not finished. */
  async #finish(pendingJob: JobRead, read?: Version): Promise<Ending> {
    const kept = keptBy(pendingJob);
    if (!kept) throw new JobError('Invalid', 'the content of the pending Job cannot be read', true);
    const ending = await this.#end(kept, read);
    if (ending === 'deleted' || ending === 'gone') await this.#create(kept, ending);
    await this.#delete(pendingJob.metadata, { uid: pendingJob.metadata.uid });
    return ending;
  }

  /** Deletes the version of the old Job that was last read, unless the Job has finished. */
  async #end({ uid, manifest }: Kept, read?: Version): Promise<Ending> {
    let last = read;
    for (let tried = 0; tried < TRIES; tried += 1) {
      if (last && (await this.#delete(manifest.metadata, last))) return 'deleted';
      const present = await this.#read(manifest.metadata);
      if (!present) return 'gone';
      if (present.metadata.uid !== uid) return 'replaced';
      if (present.metadata.deletionTimestamp !== undefined) return 'gone';
      if (!this.#context.recreateFinishedJobs && job.leftAlone?.(present) === 'JobFinished')
        return 'finished';
      last = present.metadata;
    }
    throw new JobError('Conflicting', 'the old Job keeps changing');
  }

  /** Rejects with `NotYetError` while the old Job is being deleted. */
  async #create(kept: Kept, ending: Ending): Promise<void> {
    let deletedAt = await this.#tryToCreate(kept);
    for (const wait of ending === 'deleted' ? PAUSES : []) {
      if (deletedAt === undefined) return;
      await pause(wait);
      deletedAt = await this.#tryToCreate(kept);
    }
    if (deletedAt === undefined) return;
    const half = (this.#context.client.apiTime() - deletedAt) / 2;
    throw new NotYetError('WorkloadGone', Math.min(Math.max(FIRST_WAIT, half), LAST_WAIT));
  }

  /**
   * Creates the new Job, unless another one has replaced the old one, whoever created it. If the old one is still there, returns since
   * when it has been deleted, in Unix milliseconds.
   */
  async #tryToCreate({ uid, manifest }: Kept): Promise<number | undefined> {
    try {
      await this.#post(manifest);
      return undefined;
    } catch (error) {
      if (!isTaken(error)) throw error;
    }
    const present = await this.#read(manifest.metadata);
    if (present && present.metadata.uid !== uid) return undefined;
    const since = present?.metadata.deletionTimestamp;
    return since === undefined ? this.#context.client.apiTime() : Date.parse(since);
  }

  async #read(id: { namespace: string; name: string }): Promise<JobNow | undefined> {
    try {
      return (await this.#context.client.get<JobNow>(objectPath(job, id))).body;
    } catch (error) {
      if (error instanceof KubeError && error.status === 404) return undefined;
      throw error;
    }
  }

  /** Deletes this version of the Job and, in the background, its pods. False if it is gone or differs. */
  async #delete(
    id: { namespace: string; name: string },
    { uid, resourceVersion }: Version,
  ): Promise<boolean> {
    const body = {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      preconditions: { uid, ...(resourceVersion === undefined ? {} : { resourceVersion }) },
      propagationPolicy: 'Background',
    };
    try {
      await this.#context.client.request({ method: 'DELETE', path: objectPath(job, id), body });
      return true;
    } catch (error) {
      if (error instanceof KubeError && (error.status === 404 || error.status === 409)) return false;
      throw error;
    }
  }

  async #post(manifest: Kept['manifest'], query: { dryRun?: 'All' } = {}): Promise<JobRead> {
    const { client, fieldManager } = this.#context;
    const path = collectionPath(job, manifest.metadata.namespace);
    return (await client.post<JobRead>(path, manifest, { query: { fieldManager, ...query } })).body;
  }
}

function isTaken(error: unknown): boolean {
  return error instanceof KubeError && error.reason === 'AlreadyExists';
}
