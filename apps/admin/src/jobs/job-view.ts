import type { Job as JobAnswer } from '@reroll/shared/api/queues';
import type { Job } from 'bullmq';
import { subjectOf, type FoundJob } from './job-board.ts';

/** As `jobParams` has it. Of a job that nobody of ours has made anything may be there. */
const ID = /^\d{1,20}$/u;

/** A job in our words; undefined of one that cannot be ours. */
export function jobView({ queue, state, job }: FoundJob): JobAnswer | undefined {
  const createdAt = timeOf(job.timestamp);
  const subject = subjectOf(job);
  if (createdAt === null || subject === undefined || !ID.test(job.id ?? '')) return undefined;
  const { since } = job.data as { since?: unknown };
  return {
    id: idOf({ queue, job }),
    queue,
    state,
    subject,
    since: timeOf(since),
    createdAt,
    startedAt: timeOf(job.processedOn),
    endedAt: state === 'failed' ? timeOf(job.finishedOn) : null,
    until: state === 'delayed' ? timeOf((job.processedOn ?? job.timestamp) + job.delay) : null,
    attempts: { made: countOf(job.attemptsMade), most: countOf(job.opts.attempts ?? 1) },
    error: errorOf(job),
  };
}

export function idOf({ queue, job }: { queue: string; job: Pick<Job, 'id'> }): string {
  return `${queue}:${job.id ?? ''}`;
}

/** A worker writes only our own words there. */
function errorOf({ failedReason }: Pick<Job, 'failedReason'>): string | null {
  return typeof failedReason === 'string' && failedReason !== '' ? failedReason : null;
}

function timeOf(milliseconds: unknown): string | null {
  const isTime = typeof milliseconds === 'number' && milliseconds > 0 && milliseconds < 8.64e15;
  return isTime ? new Date(milliseconds).toISOString() : null;
}

function countOf(count: unknown): number {
  return Number.isSafeInteger(count) ? Number(count) : 0;
}
