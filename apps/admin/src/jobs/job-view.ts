import type { Job as JobAnswer } from '@reroll/shared/api/queues';
import type { Job } from 'bullmq';
import { timeOf } from '../time-of.ts';
import { subjectOf, type FoundJob } from './job-board.ts';

/** As in `jobParams`. A job that Reroll did not make may have any id. */
const ID = /^\d{1,20}$/u;

/** A job as the API returns it; undefined if it cannot be ours. */
export function jobView({ queue, state, job }: FoundJob): JobAnswer | undefined {
  const createdAt = timeIn(job.timestamp);
  const subject = subjectOf(job);
  if (createdAt === null || subject === undefined || !ID.test(job.id ?? '')) return undefined;
  const { since } = job.data as { since?: unknown };
  return {
    id: idOf({ queue, job }),
    queue,
    state,
    subject,
    since: timeIn(since),
    createdAt,
    startedAt: timeIn(job.processedOn),
    endedAt: state === 'failed' ? timeIn(job.finishedOn) : null,
    until: state === 'delayed' ? timeIn((job.processedOn ?? job.timestamp) + job.delay) : null,
    attempts: { made: countOf(job.attemptsMade), most: countOf(job.opts.attempts ?? 1) },
    error: errorOf(job),
  };
}

export function idOf({ queue, job }: { queue: string; job: Pick<Job, 'id'> }): string {
  return `${queue}:${job.id ?? ''}`;
}

/** Workers write only our own words there. */
function errorOf({ failedReason }: Pick<Job, 'failedReason'>): string | null {
  return typeof failedReason === 'string' && failedReason !== '' ? failedReason : null;
}

/** Null if it is not a time. */
function timeIn(milliseconds: unknown): string | null {
  const isTime = typeof milliseconds === 'number' && milliseconds > 0 && milliseconds < 8.64e15;
  return isTime ? timeOf(milliseconds) : null;
}

function countOf(count: unknown): number {
  return Number.isSafeInteger(count) ? Number(count) : 0;
}
