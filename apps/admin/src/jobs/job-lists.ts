import type { QUEUE_NAMES } from '@reroll/shared/api/queues';
import type { Job, JobType, Queue } from 'bullmq';
import { AnswerCache } from '../auth/answer-cache.ts';

export type QueueName = (typeof QUEUE_NAMES)[number];
export type JobState = keyof typeof TYPES;

/** BullMQ's lists for each of our states. */
export const TYPES = {
  waiting: ['waiting', 'prioritized'],
  delayed: ['delayed'],
  active: ['active'],
  failed: ['failed'],
} as const satisfies Record<string, readonly JobType[]>;

export const JOB_STATES = Object.keys(TYPES) as JobState[];

/** Jobs of one queue and state that are read, from either end. */
const MOST_JOBS = 2_000;
/** Milliseconds for which a list is kept, for all callers. */
const KEPT = 2_000;

/** The facts that are kept of a job. */
export interface JobFacts extends Pick<
  Job,
  | 'id'
  | 'data'
  | 'timestamp'
  | 'processedOn'
  | 'finishedOn'
  | 'delay'
  | 'priority'
  | 'attemptsMade'
  | 'failedReason'
> {
  readonly opts: Pick<Job['opts'], 'attempts' | 'delay'>;
}

/**
 * The jobs in Redis, for all callers: a list is read once in two seconds. Its users check what each caller may see. Every
 * method rejects if Redis cannot be reached.
 */
export class JobLists {
  readonly #queues: Readonly<Record<QueueName, Pick<Queue, 'getJobs'>>>;
  readonly #kept: AnswerCache<readonly JobFacts[]>;

  constructor(queues: Readonly<Record<QueueName, Pick<Queue, 'getJobs'>>>, now?: () => number) {
    this.#queues = queues;
    this.#kept = new AnswerCache({ most: 100, keptFor: () => KEPT, ...(now ? { now } : {}) });
  }

  /** Newest first; delayed jobs by the length of their wait, longest first. */
  newest(name: QueueName, state: JobState): Promise<readonly JobFacts[]> {
    return this.#list(name, state, 'newest');
  }

  /** In the opposite order. */
  async oldest(name: QueueName, state: JobState): Promise<readonly JobFacts[]> {
    const newest = await this.newest(name, state);
    return newest.length < MOST_JOBS ? newest.toReversed() : await this.#list(name, state, 'oldest');
  }

  forget(name: QueueName): void {
    for (const state of JOB_STATES) {
      this.#kept.forget(questionOf(name, state, 'newest'));
      this.#kept.forget(questionOf(name, state, 'oldest'));
    }
  }

  #list(name: QueueName, state: JobState, from: End): Promise<readonly JobFacts[]> {
    return this.#kept.get(questionOf(name, state, from), async () => {
      const found = await this.#queues[name].getJobs([...TYPES[state]], 0, MOST_JOBS - 1, from === 'oldest');
      // A job can end between the read of the ids and the read of the job.
      return (found as (Job | undefined)[]).filter((job) => job !== undefined).map(factsOf);
    });
  }
}

type End = 'newest' | 'oldest';

function questionOf(name: QueueName, state: JobState, from: End): string {
  return `${name} ${state} ${from}`;
}

/** Drops what BullMQ keeps with each job, because the list stays for a while. */
function factsOf(job: JobFacts): JobFacts {
  const { id, data, timestamp, processedOn, finishedOn, delay, priority, attemptsMade, failedReason, opts } =
    job;
  const { attempts, delay: first } = opts;
  return {
    id,
    data,
    timestamp,
    processedOn,
    finishedOn,
    delay,
    priority,
    attemptsMade,
    failedReason,
    opts: { attempts, delay: first },
  } as JobFacts;
}
