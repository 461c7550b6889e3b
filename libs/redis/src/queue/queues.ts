import { setImmediate as nextTurn } from 'node:timers/promises';
import { Job, Queue, type JobsOptions, type KeepJobs } from 'bullmq';
import { namespaceOf, type SourceKey, type WorkloadKey } from '@reroll/core/model';
import type { RedisClient } from '../connection/redis.ts';
import { BurstLevels } from './burst-levels.ts';
import { ChangeDebounce } from './change-debounce.ts';
import { ADOPTION, oldestDue, SCORE_PER_MILLISECOND } from './oldest-due.ts';
import { ReloadDebounce } from './reload-debounce.ts';
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
export const NOTIFICATIONS = 'notifications';
export const QUEUES = [CHANGES, RELOADS, RESUMES, NOTIFICATIONS] as const;
export type QueueName = (typeof QUEUES)[number];

export interface QueueSettings {
  readonly connection: RedisClient;
  /** The install's prefix (see `CatalogKeys`). */
  readonly prefix: string;
  /**
   * The most milliseconds that a workload waits for further changes, and the time between two change jobs of a source that does not
   * stop changing. 0: nothing waits.
   */
  readonly debounce: number;
  /** The most attempts of a job. */
  readonly attempts: number;
  /** Milliseconds before the second attempt; doubles each time, up to half of it random. */
  readonly backoff: number;
}

/** Failed jobs are kept for inspection: a week, at most a thousand. */
const KEEP_FAILED = { age: 7 * 86_400, count: 1_000 };

/** Jobs written in one turn of the event loop, and in one round trip. */
export const JOBS_PER_WRITE = 100;

export interface ReloadToEnqueue {
  readonly workload: WorkloadKey;
  readonly since: number;
  readonly source?: SourceKey;
  /** Only the applied record is to be written, so the job waits behind all others. Default false. */
  readonly isAdoption?: boolean;
}

export interface Resume {
  readonly workload: WorkloadKey;
  /** Unix milliseconds, by the clock of the enqueueing process. */
  readonly at: number;
}

/** Clocks of nodes may differ by less than this, and busy workers may be as late. */
const CLOCK_TOLERANCE = 5_000;

/** The longest delay of a job; a worker that gets it too early delays it again. */
export const LONGEST_DELAY = 86_400_000;

/** The queues, for producers. Every method rejects if Redis cannot be reached. */
export class Queues {
  readonly changes: Queue<ChangeJob>;
  readonly reloads: Queue<ReloadJob>;
  readonly resumes: Queue<ResumeJob>;
  /** To be measured only: `Notifications` adds the jobs. */
  readonly notifications: Queue;
  readonly #settings: QueueSettings;
  readonly #retries: JobsOptions;
  readonly #changeDebounce: ChangeDebounce;
  readonly #reloadDebounce: ReloadDebounce;
  readonly #changeLevels = new BurstLevels();
  readonly #reloadLevels = new BurstLevels();

  constructor(settings: QueueSettings) {
    this.#settings = settings;
    this.#retries = retries(settings, KEEP_FAILED);
    const { connection, prefix, debounce } = settings;
    this.changes = new Queue(CHANGES, { connection, prefix });
    this.reloads = new Queue(RELOADS, { connection, prefix });
    this.resumes = new Queue(RESUMES, { connection, prefix });
    this.notifications = new Queue(NOTIFICATIONS, { connection, prefix, skipMetasUpdate: true });
    this.#changeDebounce = new ChangeDebounce(debounce);
    this.#reloadDebounce = new ReloadDebounce(connection, this.reloads, debounce);
    // BullMQ reports lost connections here; callers learn of them from their calls.
    for (const queue of this.all) queue.on('error', () => undefined);
  }

  /**
   * Enqueues one change job for each source, at the pace of `ChangeDebounce`. `keepLastIfActive` adds one follow-up for a change
   * while the job runs, `replace` for one while it backs off. No `jobId`, with which such a change would be lost. Beyond 32 a
   * second, jobs of a namespace let those of others pass.
   */
  async enqueueChanges(sources: readonly SourceKey[], since: number): Promise<void> {
    await inPortions(sources, async (some) => {
      const now = Date.now();
      await this.changes.addBulk(
        some.map((source) => ({
          name: 'change',
          data: changeJobOf(source, since),
          opts: {
            ...this.#retries,
            priority: this.#changeLevels.next(namespaceOf(source)),
            delay: this.#changeDebounce.delayOf(source, now),
            deduplication: { id: source, keepLastIfActive: true, replace: true },
          },
        })),
      );
      this.#changeDebounce.enqueued(some, now);
    });
  }

  /**
   * Enqueues one reload job for each workload, to run by `ReloadDebounce`. A job that waits is put off, and keeps its id and data.
   * Beyond 32 a second, jobs of a namespace let those of others pass.
   */
  async enqueueReloads(reloads: readonly ReloadToEnqueue[]): Promise<void> {
    await inPortions(reloads, async (some) => {
      const debounced = await this.#reloadDebounce.optionsOf(some.map(deduplicationIdOf));
      await this.reloads.addBulk(
        some.map((reload, at) => ({
          name: 'reload',
          data: reloadJobOf(reload.workload, reload.since, reload.source),
          opts: { ...this.#retries, ...debounced[at], priority: this.#priorityOf(reload) },
        })),
      );
    });
  }

  /**
   * Enqueues one reload job without the debounce, for a manual reload. A waiting job is brought forward, even from the end of its
   * namespace's burst; an active one gets a follow-up.
   */
  async enqueueReloadNow(workload: WorkloadKey, since: number): Promise<void> {
    await this.reloads.add('reload', reloadJobOf(workload, since), {
      ...this.#retries,
      deduplication: { id: workload, keepLastIfActive: true },
    });
    const id = await this.reloads.getDeduplicationJobId(workload);
    if (id === null) return;
    const job = await this.reloads.getJob(id);
    if (job && job.priority > 0) await job.changePriority({ priority: 0 }).catch(ignoreGone);
    await this.bringForward([id]);
  }

  /**
   * Has workloads whose reloads are held looked at again at this time (Unix milliseconds). The jobs have ids of their own, so that
   * any change of a workload or its sources is looked at in the meantime as ever; a later call replaces the time. They let other jobs pass,
   * because a window may open for every workload of a namespace at once.
   */
  async enqueueHeld(jobs: readonly ReloadJob[], at: number): Promise<void> {
    await inPortions(jobs, async (some) => {
      await this.reloads.addBulk(
        some.map(({ workload, since, source }) => ({
          name: 'reload',
          data: reloadJobOf(workload, since, source),
          opts: {
            ...this.#retries,
            ...atTime(`held:${workload}`, at),
            priority: Math.max(1, this.#reloadLevels.next(namespaceOf(workload))),
          },
        })),
      );
    });
  }

  /**
   * Enqueues one resume job for each workload, at its time. With `replace`, because a later call knows the time better; the time is
   * absolute, so restarting the delay does not postpone it.
   */
  async enqueueResumes(resumes: readonly Resume[]): Promise<void> {
    await inPortions(resumes, async (some) => {
      await this.resumes.addBulk(
        some.map(({ workload, at }) => ({
          name: 'resume',
          data: resumeJobOf(workload),
          opts: { ...this.#retries, ...atTime(workload, at) },
        })),
      );
    });
  }

  /**
   * Brings forward jobs that wait for their next attempt, because a new change may have fixed the failure. Other jobs are left
   * alone. One round trip for each 100.
   */
  async bringForward(jobIds: Iterable<string>, name: QueueName = 'reloads'): Promise<void> {
    await inPortions([...jobIds], async (some) => {
      await Promise.all(some.map((id) => this.#jobOf(name, id).promote().catch(ignoreNotDelayed)));
    });
  }

  /**
   * Brings forward delayed jobs that wait only because clocks differ, since BullMQ compares the clock of the process that delayed a job
   * with a worker's: those that should have begun by now, and those that were enqueued or tried later than now. Looks at the first
   * and the last 100, so call it again and again.
   */
  async bringForwardMisdated(name: 'changes' | 'reloads', now: number): Promise<void> {
    const overdue = (now - CLOCK_TOLERANCE) * SCORE_PER_MILLISECOND;
    const queue: Queue = this[name];
    const [first, last] = await Promise.all([
      this.#settings.connection.zrange(
        queue.toKey('delayed'),
        0,
        `${overdue}`,
        'BYSCORE',
        'LIMIT',
        0,
        JOBS_PER_WRITE,
      ),
      queue.getJobs(['delayed'], 0, JOBS_PER_WRITE - 1, false),
    ]);
    // One that ended between the two reads of BullMQ is undefined.
    const ahead = last.filter(
      (job: Job | undefined) => job && (job.processedOn ?? job.timestamp) > now + CLOCK_TOLERANCE,
    );
    await this.bringForward(new Set([...first, ...ahead.flatMap(({ id }) => id ?? [])]), name);
  }

  /** Returns how many jobs wait, including delayed ones. */
  async waiting(queue: QueueName): Promise<number> {
    const counts = await this[queue].getJobCounts('wait', 'delayed', 'prioritized');
    return Object.values(counts).reduce((sum, count) => sum + count, 0);
  }

  /** Returns how many jobs are ready to run and wait for a worker. Delayed jobs do not count. */
  async ready(queue: QueueName): Promise<number> {
    const counts = await this[queue].getJobCounts('wait', 'prioritized');
    return Object.values(counts).reduce((sum, count) => sum + count, 0);
  }

  /** As the function `oldestDue` says. */
  async oldestDue(name: QueueName, now: number): Promise<number> {
    return await oldestDue(this[name], this.#settings.connection, now);
  }

  get all(): readonly Queue[] {
    return QUEUES.map((name) => this[name]);
  }

  async close(): Promise<void> {
    await Promise.all(this.all.map((queue) => queue.close()));
  }

  /** The only place that decides the order of reload jobs. */
  #priorityOf({ workload, isAdoption }: ReloadToEnqueue): number {
    return isAdoption ? ADOPTION : this.#reloadLevels.next(namespaceOf(workload));
  }

  /** Names a job to BullMQ without reading it. */
  #jobOf(name: QueueName, id: string): Job {
    return new Job(this[name] as Queue, name, {}, {}, id);
  }
}

/** Adoption has its own ids, so that another reload job never merges with one that waits behind everything. */
function deduplicationIdOf({ workload, isAdoption }: ReloadToEnqueue): string {
  return isAdoption ? `adoption:${workload}` : workload;
}

/** The options of the one job with this deduplication id, to run at this time (Unix milliseconds): a later call replaces its time. */
function atTime(id: string, at: number): JobsOptions {
  return {
    delay: Math.min(Math.max(0, at - Date.now()), LONGEST_DELAY),
    deduplication: { id, keepLastIfActive: true, replace: true },
  };
}

/** The options of a job that fails now and then. It keeps no stacks of failed attempts, with each of which it would grow. */
export function retries(
  { attempts, backoff }: Pick<QueueSettings, 'attempts' | 'backoff'>,
  removeOnFail: KeepJobs,
): JobsOptions {
  return {
    attempts,
    backoff: { type: 'exponential', delay: backoff, jitter: 0.5 },
    removeOnComplete: true,
    removeOnFail,
    stackTraceLimit: 0,
  };
}

/** Other work runs between two portions. */
async function inPortions<T>(
  items: readonly T[],
  write: (portion: readonly T[]) => Promise<void>,
): Promise<void> {
  for (let at = 0; at < items.length; at += JOBS_PER_WRITE) {
    if (at > 0) await nextTurn();
    await write(items.slice(at, at + JOBS_PER_WRITE));
  }
}

/** BullMQ's codes for a job that no longer exists, and for one in the wrong state. */
const GONE = -1;
const NOT_IN_STATE = -3;

/** The job was handled between the lookup and the call. */
function ignoreGone(error: unknown): void {
  if ((error as { code?: unknown } | null)?.code !== GONE) throw error;
}

/** The job started between the lookup and the call. */
function ignoreNotDelayed(error: unknown): void {
  if ((error as { code?: unknown } | null)?.code !== NOT_IN_STATE) throw error;
}
