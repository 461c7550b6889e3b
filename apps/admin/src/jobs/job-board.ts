import { QUEUE_NAMES, type Queue as QueueView } from '@reroll/shared/api/queues';
import type { RedisClient } from '@reroll/redis/connection/redis';
import { ADOPTION, dueSince, oldestDue, timesOfDelayed } from '@reroll/redis/queue/oldest-due';
import { CHANGES, NOTIFICATIONS, RELOADS, RESUMES } from '@reroll/redis/queue/queues';
import { namespaceOf, type Key } from '@reroll/core/model';
import { Queue, type Job } from 'bullmq';
import { visibility, type Caller } from '../auth/caller.ts';
import { NamespacesAsked } from '../history/namespaces-asked.ts';
import { ProblemError } from '../http/problem-error.ts';
import { JOB_STATES, JobLists, TYPES, type JobFacts, type JobState, type QueueName } from './job-lists.ts';

export interface FoundJob {
  readonly queue: QueueName;
  readonly state: JobState;
  readonly job: JobFacts;
}

/** Reads and controls the queues of BullMQ. Every method rejects if Redis cannot be reached. */
export class JobBoard {
  readonly #queues: Readonly<Record<QueueName, Queue>>;
  readonly #lists: JobLists;
  readonly #redis: RedisClient;

  constructor(by: { connection: RedisClient; prefix: string }) {
    const open = (name: string): Queue => {
      const queue = new Queue(name, by);
      // BullMQ reports a lost connection here; a call that is under way rejects by itself.
      queue.on('error', () => undefined);
      return queue;
    };
    this.#queues = {
      changes: open(CHANGES),
      reloads: open(RELOADS),
      resumes: open(RESUMES),
      notifications: open(NOTIFICATIONS),
    };
    this.#lists = new JobLists(this.#queues);
    this.#redis = by.connection;
  }

  get all(): readonly Queue[] {
    return Object.values(this.#queues);
  }

  /** All queues, with the jobs that the caller may see in the first hundred namespaces that occur. */
  async queues(caller: Caller): Promise<QueueView[]> {
    const namespaces = await NamespacesAsked.of(caller);
    return await Promise.all(QUEUE_NAMES.map((name) => this.#queue(name, namespaces)));
  }

  async queue(name: QueueName, caller: Caller): Promise<QueueView> {
    return await this.#queue(name, await NamespacesAsked.of(caller));
  }

  /** Jobs of a state, newest first, for all callers: the caller's rights must be checked before a job is shown. */
  async jobs(name: QueueName, state: JobState): Promise<FoundJob[]> {
    const jobs = await this.#lists.newest(name, state);
    return jobs.map((job) => ({ queue: name, state, job }));
  }

  /** The job with the id `<queue>:<id>`; undefined if it does not exist, is completed, or is invisible to the caller. */
  async find(id: string, caller: Caller): Promise<(FoundJob & { readonly job: Job }) | undefined> {
    const at = id.indexOf(':');
    const queue = id.slice(0, at) as QueueName;
    const job = (await this.#queues[queue].getJob(id.slice(at + 1))) as Job | undefined;
    const namespace = job && namespaceOfJob(job);
    if (!job || namespace === undefined) return undefined;
    const { sees } = await visibility(caller);
    if (!(await sees(namespace))) return undefined;
    const type = await job.getState();
    const state = JOB_STATES.find((each) => TYPES[each].some((one) => one === type));
    return state && { queue, state, job };
  }

  /** Retries a job, as the function `retry` does. */
  async retry(found: FoundJob & { readonly job: Job }): Promise<void> {
    await retry(found);
    this.#lists.forget(found.queue);
  }

  async pause(name: QueueName): Promise<void> {
    await this.#queues[name].pause();
  }

  async resume(name: QueueName): Promise<void> {
    await this.#queues[name].resume();
  }

  async close(): Promise<void> {
    await Promise.all(this.all.map((queue) => queue.close()));
  }

  async #counts(name: QueueName): Promise<Record<JobState, number>> {
    const counts = await this.#queues[name].getJobCounts(...Object.values(TYPES).flat());
    const sum = (state: JobState): number =>
      TYPES[state].reduce((total, type) => total + (counts[type] ?? 0), 0);
    return { waiting: sum('waiting'), delayed: sum('delayed'), active: sum('active'), failed: sum('failed') };
  }

  async #visibleCounts(name: QueueName, namespaces: NamespacesAsked): Promise<Record<JobState, number>> {
    const counts = await Promise.all(
      JOB_STATES.map(async (state) => {
        const seen = await visibleOf(await this.#lists.newest(name, state), namespaces);
        return [state, seen.length] as const;
      }),
    );
    return Object.fromEntries(counts) as Record<JobState, number>;
  }

  /** Milliseconds for which the job that has been due longest has waited for a worker; 0 if none is due. Adoption does not count. */
  async #oldestDue(name: QueueName, namespaces: NamespacesAsked): Promise<number> {
    const now = Date.now();
    const queue = this.#queues[name];
    if (namespaces.all) return await oldestDue(queue, this.#redis, now);
    const [waiting, delayed] = await Promise.all([
      this.#lists.oldest(name, 'waiting'),
      this.#lists.oldest(name, 'delayed'),
    ]);
    const real = waiting.filter(({ priority }) => priority !== ADOPTION);
    const due = (await visibleOf(real, namespaces)).map(dueSince);
    const ids = (await visibleOf(delayed, namespaces)).flatMap(({ id }) => id ?? []);
    return now - Math.min(now, ...due, ...(await timesOfDelayed(queue, this.#redis, ids)));
  }

  async #queue(name: QueueName, namespaces: NamespacesAsked): Promise<QueueView> {
    const [paused, counts, oldestDue] = await Promise.all([
      this.#queues[name].isPaused(),
      namespaces.all ? this.#counts(name) : this.#visibleCounts(name, namespaces),
      this.#oldestDue(name, namespaces),
    ]);
    return { name, paused, counts, oldestDueSeconds: oldestDue / 1000 };
  }
}

async function visibleOf(jobs: readonly JobFacts[], namespaces: NamespacesAsked): Promise<JobFacts[]> {
  const visible: JobFacts[] = [];
  for (const job of jobs) {
    const namespace = namespaceOfJob(job);
    if (namespace !== undefined && (await namespaces.sees(namespace)) === true) visible.push(job);
  }
  return visible;
}

/** Retries a failed job with all its attempts, or starts a delayed one now. Rejects with a `ProblemError` `Conflict`. */
async function retry({ state, job }: FoundJob & { readonly job: Job }): Promise<void> {
  if (state === 'waiting')
    throw new ProblemError('Conflict', { detail: 'the job waits for a worker already' });
  if (state === 'active') throw new ProblemError('Conflict', { detail: 'a worker is running the job' });
  try {
    if (state === 'delayed') await job.promote();
    else await job.retry('failed', { resetAttemptsMade: true, resetAttemptsStarted: true });
  } catch (error) {
    // BullMQ's negative codes: the job changed between the lookup and the call.
    const { code } = error as { code?: unknown };
    if (typeof code !== 'number') throw error;
    throw new ProblemError('Conflict', { detail: 'the job has changed meanwhile' });
  }
}

/** `<kind>/<namespace>/<name>` of the object that a job names; undefined if the job is not ours. */
export function subjectOf({ data }: Pick<Job, 'data'>): Key<string> | undefined {
  const { workload, source } = (data ?? {}) as { workload?: unknown; source?: unknown };
  const subject = workload ?? source;
  return typeof subject === 'string' && isSubject(subject) ? subject : undefined;
}

function isSubject(text: string): text is Key<string> {
  return /^[A-Za-z]+\/[^/\s]+\/[^/\s]+$/u.test(text);
}

function namespaceOfJob(job: Pick<Job, 'data'>): string | undefined {
  const subject = subjectOf(job);
  return subject && namespaceOf(subject);
}
