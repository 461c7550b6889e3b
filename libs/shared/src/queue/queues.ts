import { Queue, type ConnectionOptions, type JobsOptions } from 'bullmq';
import type { SourceKey, WorkloadKey } from '../core/model.ts';
import {
  changeJobOf,
  reloadJobOf,
  resumeJobOf,
  type ChangeJob,
  type ReloadJob,
  type ResumeJob,
} from './jobs.ts';

export const CHANGES = 'changes';
export const RELOADS = 'reloads';
export const RESUMES = 'resumes';

export interface QueueSettings {
  readonly connection: ConnectionOptions;
  /** The install's prefix, `{reroll:<cluster>:<namespace>}`. */
  readonly prefix: string;
  /** Milliseconds that a workload waits for further changes. */
  readonly debounce: number;
  /** How often a job is tried. */
  readonly attempts: number;
  /** Milliseconds before the second attempt; doubled each time, up to half of it random. */
  readonly backoff: number;
}

/** Failed jobs are kept for a person to look at: a week, a thousand. */
const KEEP_FAILED = { age: 7 * 86_400, count: 1_000 };

export interface Wake {
  readonly workload: WorkloadKey;
  readonly since: number;
  readonly source?: SourceKey;
}

export interface Resume {
  readonly workload: WorkloadKey;
  /** Unix milliseconds, of the process that enqueues it. */
  readonly at: number;
}

export type QueueName = 'changes' | 'reloads' | 'resumes';

/** The longest delay of a job; whoever handles it before its time delays it again. */
export const LONGEST_DELAY = 86_400_000;

/** The queues, as producers use them. Every method rejects if Redis cannot be reached. */
export class Queues {
  readonly changes: Queue<ChangeJob>;
  readonly reloads: Queue<ReloadJob>;
  readonly resumes: Queue<ResumeJob>;
  readonly #settings: QueueSettings;

  constructor(settings: QueueSettings) {
    this.#settings = settings;
    const { connection, prefix } = settings;
    this.changes = new Queue(CHANGES, { connection, prefix });
    this.reloads = new Queue(RELOADS, { connection, prefix });
    this.resumes = new Queue(RESUMES, { connection, prefix });
    // BullMQ reports a lost connection here; whoever awaits a call learns it from the call.
    for (const queue of [this.changes, this.reloads, this.resumes]) queue.on('error', () => undefined);
  }

  /**
   * One change job a source. `keepLastIfActive` gives one follow-up for a change that comes while the job
   * runs, `replace` the same for one that comes while it backs off. No `jobId`: with one, such a change is lost.
   */
  async enqueueChanges(sources: readonly SourceKey[], since: number): Promise<void> {
    if (sources.length === 0) return;
    await this.changes.addBulk(
      sources.map((source) => ({
        name: 'change',
        data: changeJobOf(source, since),
        opts: {
          ...this.#retries(),
          deduplication: { id: source, keepLastIfActive: true, replace: true },
        },
      })),
    );
  }

  /**
   * One reload job a workload, after the debounce. Without `replace`, which would restart the delay with
   * every wake: the first wake fixes the deadline.
   */
  async enqueueReloads(wakes: readonly Wake[]): Promise<void> {
    if (wakes.length === 0) return;
    await this.reloads.addBulk(
      wakes.map(({ workload, since, source }) => ({
        name: 'reload',
        data: reloadJobOf(workload, since, source),
        opts: {
          ...this.#retries(),
          delay: this.#settings.debounce,
          deduplication: { id: workload, keepLastIfActive: true },
        },
      })),
    );
  }

  /**
   * One reload job at once, without the debounce: a person waits. One that waits already is brought forward; one
   * that is at work gets a follow-up.
   */
  async enqueueReloadNow(workload: WorkloadKey, since: number): Promise<void> {
    await this.reloads.add('reload', reloadJobOf(workload, since), {
      ...this.#retries(),
      deduplication: { id: workload, keepLastIfActive: true },
    });
    const id = await this.reloads.getDeduplicationJobId(workload);
    if (id !== null) await this.bringForward([id]);
  }

  /**
   * One resume job a workload, at its time. `replace`: a later call has the later knowledge of that time, and
   * the time is absolute, so a delay that starts anew ends when the old one did.
   */
  async enqueueResumes(resumes: readonly Resume[]): Promise<void> {
    if (resumes.length === 0) return;
    const now = Date.now();
    await this.resumes.addBulk(
      resumes.map(({ workload, at }) => ({
        name: 'resume',
        data: resumeJobOf(workload),
        opts: {
          ...this.#retries(),
          delay: Math.min(Math.max(0, at - now), LONGEST_DELAY),
          deduplication: { id: workload, keepLastIfActive: true, replace: true },
        },
      })),
    );
  }

  /**
   * Brings jobs forward that wait for their next attempt: a new change may have mended what failed. A job
   * that waits no more is left alone.
   */
  async bringForward(jobIds: Iterable<string>): Promise<void> {
    for (const id of jobIds) {
      const job = await this.reloads.getJob(id);
      if (job && (await job.isDelayed())) await job.promote().catch(ignoreNotDelayed);
    }
  }

  /** Jobs that wait, delayed ones included. */
  async waiting(queue: QueueName): Promise<number> {
    const counts = await this[queue].getJobCounts('wait', 'delayed', 'prioritized');
    return Object.values(counts).reduce((sum, count) => sum + count, 0);
  }

  /**
   * Milliseconds for which the job that is due for longest has waited for a worker; 0 if none is due. Of a job
   * that has been tried, since it last began.
   */
  async oldestDue(name: QueueName, now: number): Promise<number> {
    const queue: Queue = this[name];
    const [[waiting], [delayed]] = await Promise.all([
      queue.getJobs(['waiting'], 0, 0, true),
      queue.getJobs(['delayed'], 0, 0, true),
    ]);
    const due = [now];
    if (waiting) due.push(waiting.processedOn ?? waiting.timestamp + (waiting.opts.delay ?? 0));
    if (delayed) due.push((delayed.processedOn ?? delayed.timestamp) + delayed.delay);
    return now - Math.min(...due);
  }

  async close(): Promise<void> {
    await Promise.all([this.changes.close(), this.reloads.close(), this.resumes.close()]);
  }

  #retries(): JobsOptions {
    return {
      attempts: this.#settings.attempts,
      backoff: { type: 'exponential', delay: this.#settings.backoff, jitter: 0.5 },
      removeOnComplete: true,
      removeOnFail: KEEP_FAILED,
    };
  }
}

/** BullMQ's code for a job that is not in the state that a call needs. */
const NOT_IN_STATE = -3;

/** Between the look and the call the job began by itself. */
function ignoreNotDelayed(error: unknown): void {
  if ((error as { code?: unknown } | null)?.code !== NOT_IN_STATE) throw error;
}
