import { annotationOf, type AnnotationKeys } from '@reroll/core/annotations/annotation-keys';
import { partsOf, type WorkloadKey } from '@reroll/core/model';
import { resumeDueAt, resumePatch } from '@reroll/core/reload/pause';
import type { KubeClient } from '@reroll/kube/client/connection';
import { KubeError } from '@reroll/kube/client/errors';
import { objectPath, type KubeObject } from '@reroll/kube/objects';
import { workloadKind } from '@reroll/kube/workloads/registry';
import type { Logger } from '@reroll/shared/platform/logging/logging';
import { resumeJob, type ResumeJob } from '@reroll/redis/queue/jobs';
import { LONGEST_DELAY, RESUMES } from '@reroll/redis/queue/queues';
import { JobError, NotYetError } from '../job-error.ts';
import type { FailedAttempt, QueueHandler } from '../queue-runner.ts';
import { isOvertaken } from './send/reload-way.ts';

export interface ResumeContext {
  readonly client: Pick<KubeClient, 'get' | 'patch'>;
  readonly keys: AnnotationKeys;
  readonly fieldManager: string;
  readonly dryRun: boolean;
  readonly log: Logger;
}

/**
 * Handles a resume job: reads the workload, and resumes its rollout if the pause that Reroll began is over. The object
 * holds the truth (`paused-at` and the period). A job that comes too early is delayed again. One that comes twice, or for
 * an owner's own pause, does nothing.
 */
export class ResumeProcessor implements QueueHandler<ResumeJob> {
  readonly queue = RESUMES;
  readonly schema = resumeJob;
  readonly #context: ResumeContext;

  constructor(context: ResumeContext) {
    this.#context = context;
  }

  /** Rejects with a `JobError`, a `KubeError` or `NotYetError`. */
  async handle({ workload }: ResumeJob): Promise<void> {
    const { keys, dryRun } = this.#context;
    const id = partsOf(workload);
    const definition = workloadKind(id.kind);
    if (!definition) throw new JobError('InvalidJob', `no workload kind ${id.kind}`, true);
    const path = objectPath(definition, id);
    const object = await this.#get(path);
    if (!object || dryRun) return;
    const { annotations = {} } = object.metadata;
    const paused = definition.isPaused?.(object);
    const pausedAt = annotationOf(annotations, keys.pausedAt);
    const due = resumeDueAt({ paused, annotations }, keys);
    if (due === undefined || paused === undefined || pausedAt === undefined) return;
    const wait = due - Date.now();
    if (wait > 0) throw new NotYetError('Paused', Math.min(wait, LONGEST_DELAY));
    await this.#resume(path, workload, { uid: object.metadata.uid, paused, pausedAt });
  }

  async failed({ workload }: ResumeJob, error: JobError, { number, isLast }: FailedAttempt): Promise<void> {
    const about = { workload, attempt: number, final: isLast };
    this.#context.log.failure('cannot resume a Deployment', error, about);
  }

  async #resume(
    path: string,
    workload: WorkloadKey,
    read: { uid: string; paused: boolean; pausedAt: string },
  ): Promise<void> {
    const { client, keys, fieldManager, log } = this.#context;
    const { name, namespace } = partsOf(workload);
    try {
      await client.patch(path, resumePatch(read, keys.pausedAt), { query: { fieldManager } });
    } catch (error) {
      // The Deployment was resumed, paused or deleted meanwhile, and the watcher's event for that leads to what is
      // needed.
      if (isOvertaken(error)) return;
      throw error;
    }
    const text = read.paused
      ? `Successfully resumed deployment '${name}' in namespace '${namespace}'`
      : `Deployment '${name}' in namespace '${namespace}' is no longer paused by Reroll, removed its time of pause`;
    log.info(text, { workload });
  }

  async #get(path: string): Promise<KubeObject | null> {
    try {
      return (await this.#context.client.get<KubeObject>(path)).body;
    } catch (error) {
      if (error instanceof KubeError && error.status === 404) return null;
      throw error;
    }
  }
}
