import type { QUEUE_NAMES, Queue as QueueView } from '@reroll/shared/api/queues';
import { NOTIFICATIONS } from '@reroll/shared/queue/notifications';
import { CHANGES, RELOADS, RESUMES } from '@reroll/shared/queue/queues';
import { Queue, type ConnectionOptions, type Job, type JobType } from 'bullmq';
import { visibility, type Caller } from '../auth/caller.ts';
import { ProblemError } from '../http/problem-error.ts';

export type QueueName = (typeof QUEUE_NAMES)[number];
export type JobState = keyof typeof TYPES;

/** BullMQ's lists for each of our words. */
const TYPES = {
  waiting: ['waiting', 'prioritized'],
  delayed: ['delayed'],
  active: ['active'],
  failed: ['failed'],
} as const satisfies Record<string, readonly JobType[]>;

export const JOB_STATES = Object.keys(TYPES) as JobState[];

/** Jobs of one queue and state that are looked at. */
const MOST_JOBS = 2_000;

/** A job as it is in Redis, and where it is. */
export interface FoundJob {
  readonly queue: QueueName;
  readonly state: JobState;
  readonly job: Job;
}

/** The queues of BullMQ, for looking at and for steering. Every method rejects if Redis cannot be reached. */
export class JobBoard {
  readonly #queues: Readonly<Record<QueueName, Queue>>;

  constructor(by: { connection: ConnectionOptions; prefix: string }) {
    const open = (name: string): Queue => {
      const queue = new Queue(name, by);
      // BullMQ reports a lost connection here; whoever awaits a call learns it from the call.
      queue.on('error', () => undefined);
      return queue;
    };
    this.#queues = {
      changes: open(CHANGES),
      reloads: open(RELOADS),
      resumes: open(RESUMES),
      notifications: open(NOTIFICATIONS),
    };
  }

  /** One queue, with the jobs that the caller may see. */
  async queue(name: QueueName, caller: Caller): Promise<QueueView> {
    const { all } = await visibility(caller);
    const [paused, counts, oldestDue] = await Promise.all([
      this.#queues[name].isPaused(),
      all ? this.#counts(name) : this.#visibleCounts(name, caller),
      this.#oldestDue(name, caller),
    ]);
    return { name, paused, counts, oldestDueSeconds: oldestDue / 1000 };
  }

  /** Jobs of a state, those that began to wait first in front; a caller is given those that they may see. */
  async jobs(name: QueueName, state: JobState, caller: Caller): Promise<FoundJob[]> {
    const found = await this.#queues[name].getJobs([...TYPES[state]], 0, MOST_JOBS - 1, true);
    // A job can end between the list of ids and the look at each.
    const jobs = (found as (Job | undefined)[]).filter((job) => job !== undefined);
    const { all, sees } = await visibility(caller);
    if (all) return jobs.map((job) => ({ queue: name, state, job }));
    const visible: FoundJob[] = [];
    for (const job of jobs) {
      const namespace = namespaceOf(job);
      // oxlint-disable-next-line no-await-in-loop -- the answer for a namespace is kept, and asked once
      if (namespace !== undefined && (await sees(namespace))) visible.push({ queue: name, state, job });
    }
    return visible;
  }

  /** The job of an id `<queue>:<id>`; undefined if there is none, it is done, or the caller may not see it. */
  async find(id: string, caller: Caller): Promise<FoundJob | undefined> {
    const at = id.indexOf(':');
    const queue = id.slice(0, at) as QueueName;
    const job = (await this.#queues[queue].getJob(id.slice(at + 1))) as Job | undefined;
    const namespace = job && namespaceOf(job);
    if (!job || namespace === undefined) return undefined;
    const { sees } = await visibility(caller);
    if (!(await sees(namespace))) return undefined;
    const type = await job.getState();
    const state = JOB_STATES.find((each) => TYPES[each].some((one) => one === type));
    return state && { queue, state, job };
  }

  async pause(name: QueueName): Promise<void> {
    await this.#queues[name].pause();
  }

  async resume(name: QueueName): Promise<void> {
    await this.#queues[name].resume();
  }

  async close(): Promise<void> {
    await Promise.all(Object.values(this.#queues).map((queue) => queue.close()));
  }

  async #counts(name: QueueName): Promise<Record<JobState, number>> {
    const counts = await this.#queues[name].getJobCounts(...Object.values(TYPES).flat());
    const sum = (state: JobState): number =>
      TYPES[state].reduce((total, type) => total + (counts[type] ?? 0), 0);
    return { waiting: sum('waiting'), delayed: sum('delayed'), active: sum('active'), failed: sum('failed') };
  }

  async #visibleCounts(name: QueueName, caller: Caller): Promise<Record<JobState, number>> {
    const counts = await Promise.all(
      JOB_STATES.map(async (state) => [state, (await this.jobs(name, state, caller)).length] as const),
    );
    return Object.fromEntries(counts) as Record<JobState, number>;
  }

  /** Milliseconds for which the job that is due for longest has waited for a worker; 0 if none is due. */
  async #oldestDue(name: QueueName, caller: Caller): Promise<number> {
    const now = Date.now();
    const { all } = await visibility(caller);
    const first = async (state: 'waiting' | 'delayed'): Promise<Job | undefined> =>
      all
        ? (await this.#queues[name].getJobs([...TYPES[state]], 0, 0, true)).at(0)
        : (await this.jobs(name, state, caller)).at(0)?.job;
    const [waiting, delayed] = await Promise.all([first('waiting'), first('delayed')]);
    const due = [now];
    if (waiting) due.push(waiting.processedOn ?? waiting.timestamp + (waiting.opts.delay ?? 0));
    if (delayed) due.push((delayed.processedOn ?? delayed.timestamp) + delayed.delay);
    return now - Math.min(...due);
  }
}

/** Has it tried again, with all its attempts; one that waits for its time has it now. Rejects with a `ProblemError` `Conflict`. */
export async function retry({ state, job }: FoundJob): Promise<void> {
  if (state === 'waiting') return;
  if (state === 'active') throw new ProblemError('Conflict', { detail: 'a worker has the job' });
  try {
    if (state === 'delayed') await job.promote();
    else await job.retry('failed', { resetAttemptsMade: true, resetAttemptsStarted: true });
  } catch (error) {
    // BullMQ's negative codes: between the look and the call the job has gone on.
    const { code } = error as { code?: unknown };
    if (typeof code !== 'number') throw error;
    throw new ProblemError('Conflict', { detail: 'the job has gone on by itself' });
  }
}

/** `<kind>/<namespace>/<name>` of what a job names; undefined of one that is not ours. */
export function subjectOf({ data }: Pick<Job, 'data'>): string | undefined {
  const { workload, source } = (data ?? {}) as { workload?: unknown; source?: unknown };
  const subject = workload ?? source;
  return typeof subject === 'string' && SUBJECT.test(subject) ? subject : undefined;
}

const SUBJECT = /^[A-Za-z]+\/[^/\s]+\/[^/\s]+$/u;

function namespaceOf(job: Job): string | undefined {
  return subjectOf(job)?.split('/')[1];
}
