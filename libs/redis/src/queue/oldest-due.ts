import type { Job, Queue } from 'bullmq';
import type { RedisClient } from '../connection/redis.ts';
import { LAST_LEVEL } from './burst-levels.ts';

/** BullMQ's priority of a job that only records (adoption): behind all other jobs. */
export const ADOPTION = LAST_LEVEL + 1;

/** BullMQ sorts delayed jobs by when they begin, in Unix milliseconds times this. */
export const SCORE_PER_MILLISECOND = 0x1000;

const LEVELS = Array.from({ length: LAST_LEVEL }, (_, index) => index + 1);

/** The facts of a waiting job that say since when it has been due. */
export interface WaitingJob extends Pick<Job, 'timestamp' | 'processedOn'> {
  readonly opts: { readonly delay?: number | undefined };
}

/**
 * Returns for how many milliseconds the most overdue job has waited for a worker, since its last attempt if there was one; 0 if
 * none is due. A reload job that was put off counts from the end of its first quiet period once it is due. Adoption does not count, because it waits behind all other jobs.
 */
export async function oldestDue(queue: Queue, redis: RedisClient, now: number): Promise<number> {
  const [waiting, [, delayed], later] = await Promise.all([
    queue.getJobs(['waiting'], 0, 0, true),
    redis.zrange(queue.toKey('delayed'), 0, '0', 'WITHSCORES'),
    firstOfLevels(queue),
  ]);
  const due = [now, ...[...waiting, ...later].map(dueSince)];
  if (delayed !== undefined) due.push(timeOfScore(delayed));
  return now - Math.min(...due);
}

/** When a job that waits, and is not delayed, became due (Unix milliseconds): when it was last tried, or first should have been. */
export function dueSince({ processedOn, timestamp, opts }: WaitingJob): number {
  return processedOn ?? timestamp + (opts.delay ?? 0);
}

/** When these delayed jobs are due (Unix milliseconds). Those that are not delayed any more are left out. */
export async function timesOfDelayed(
  queue: Queue,
  redis: RedisClient,
  ids: readonly string[],
): Promise<number[]> {
  if (ids.length === 0) return [];
  const scores = await redis.zmscore(queue.toKey('delayed'), ...ids);
  return scores.flatMap((score) => (score === null ? [] : timeOfScore(score)));
}

/** `score`: of a delayed job, as Redis writes it. */
export function timeOfScore(score: string): number {
  return Math.floor(Number(score) / SCORE_PER_MILLISECOND);
}

/** Returns the oldest job of each burst level; jobs with a priority are sorted by it. */
async function firstOfLevels(queue: Queue): Promise<Job[]> {
  const counts = await queue.getCountsPerPriority(LEVELS);
  const firsts: number[] = [];
  let before = 0;
  for (const level of LEVELS) {
    const count = counts[level] ?? 0;
    if (count > 0) firsts.push(before);
    before += count;
  }
  return (await Promise.all(firsts.map((at) => queue.getJobs(['prioritized'], at, at, true)))).flat();
}
