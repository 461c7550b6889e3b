import type { DeduplicationOptions, JobsOptions, Queue } from 'bullmq';
import type { RedisClient } from '../connection/redis.ts';
import { quietOf } from './quiet.ts';

/** A job that is due in so many milliseconds may begin before the next round trip. */
const SOON = 5;

/**
 * When reload jobs run: once nothing was enqueued with their deduplication id for the quiet period, and at the latest a debounce
 * after the first time. A waiting job has its time of the first in its `timestamp`, whichever process enqueued it, and is moved,
 * never replaced.
 */
export class ReloadDebounce {
  readonly #redis: RedisClient;
  readonly #queue: Queue;
  readonly #debounce: number;
  readonly #quiet: number;

  /** `debounce`: milliseconds; 0 for none. */
  constructor(redis: RedisClient, queue: Queue, debounce: number) {
    this.#redis = redis;
    this.#queue = queue;
    this.#debounce = debounce;
    this.#quiet = quietOf(debounce);
  }

  /**
   * Returns the options of a job for each of these deduplication ids. One round trip, and one more if any of them has a job; none
   * without a debounce.
   */
  async optionsOf(ids: readonly string[]): Promise<JobsOptions[]> {
    if (this.#debounce === 0) return ids.map((id) => ({ deduplication: deduplicationOf(id) }));
    const jobIds = await this.#redis.mget(...ids.map((id) => this.#queue.toKey(`de:${id}`)));
    const jobs = await Promise.all(jobIds.map((id) => this.#timesOf(id)));
    const now = Date.now();
    return ids.map((id, at) => this.#options(id, { now, job: jobs[at] ?? [] }));
  }

  /** When a job was enqueued, its delay, and when it last began; null if it is not there or never began. */
  async #timesOf(jobId: string | null): Promise<readonly (string | null)[]> {
    return jobId === null
      ? []
      : await this.#redis.hmget(this.#queue.toKey(jobId), 'timestamp', 'delay', 'processedOn');
  }

  /**
   * BullMQ moves a job with `reschedule`, to `timestamp` + `delay`, and only if it is delayed. One that has begun is active, backs off
   * or waits for a slot, and is left alone. So is one that is due: it may begin before it is moved, and BullMQ would then count the
   * delay of its follow-up from its end. A clock that is ahead of this one counts as the same.
   */
  #options(id: string, { now, job }: { now: number; job: readonly (string | null)[] }): JobsOptions {
    const deduplication = deduplicationOf(id);
    const [first = null, delayed = null, begun = null] = job;
    if (first === null || begun !== null) return { delay: this.#quiet, deduplication };
    const timestamp = Math.min(Number(first), now);
    if (timestamp + Number(delayed) <= now + SOON) return { delay: this.#quiet, deduplication };
    const delay = Math.min(now + this.#quiet - timestamp, this.#debounce);
    return { timestamp, delay, deduplication: { ...deduplication, reschedule: true } };
  }
}

/** A job that comes while one is active follows it. */
function deduplicationOf(id: string): DeduplicationOptions {
  return { id, keepLastIfActive: true };
}
