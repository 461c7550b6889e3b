import type { HistoryJoin, Outcome } from '@reroll/core/history/join';
import type { SourceKey, WorkloadKey } from '@reroll/core/model';
import type { Job } from '@reroll/shared/api/queues';
import type { ObjectFacts } from '../objects/object-facts.ts';
import { pageOfJobs, type JobPage } from './job-page.ts';

/**
 * Whether the history has a later attempt, which has not failed, to do what a failed job was for. BullMQ keeps failed jobs for a week.
 * Nothing else sends a notification again.
 */
function isFollowed({ queue, state, subject, endedAt }: Job, join: HistoryJoin): boolean {
  if (state !== 'failed' || endedAt === null) return false;
  const isLater = (at: number | undefined): boolean => at !== undefined && at > Date.parse(endedAt);
  if (queue === 'changes') return isLater(join.changesOf(subject as SourceKey).at(-1)?.at);
  if (queue !== 'reloads') return false;
  const latest = latestOf(subject as WorkloadKey, join);
  return latest?.entry.state !== 'failed' && isLater(latest?.entry.at);
}

interface By {
  readonly join: HistoryJoin;
  readonly facts: Pick<ObjectFacts, 'eachWorkloadFacts'>;
}

/** Reads of rows for one page. */
const MOST_READS = 5;

/** As `pageOfJobs`, without failed jobs that are not needed any more. Can be empty although more follow. */
export async function pageOfUnresolved(
  jobs: readonly Job[],
  by: Parameters<typeof pageOfJobs>[1] & By,
): Promise<JobPage> {
  const unresolved = lastOfEach(jobs.filter((job) => !isFollowed(job, by.join)));
  const items: Job[] = [];
  let last = by.after;
  for (let reads = 0; reads < MOST_READS && items.length < by.limit; reads += 1) {
    const page = await pageOfJobs(unresolved, { ...by, after: last, limit: by.limit - items.length });
    items.push(...(await stillNeeded(page.items, by)));
    ({ last } = page);
    if (last === undefined) break;
  }
  return { items, last };
}

/** Of the failed jobs for one object, only the last: resyncs try again, each time by another job. Each notification is its own. */
function lastOfEach(jobs: readonly Job[]): Job[] {
  const kept = new Map<string, Job>();
  for (const job of jobs) {
    const { id, queue, state, subject } = job;
    const of = state === 'failed' && queue !== 'notifications' ? `${queue} ${subject}` : id;
    const before = kept.get(of);
    if (before === undefined || endOf(before) < endOf(job)) kept.set(of, job);
  }
  return [...kept.values()];
}

function endOf({ endedAt, createdAt }: Job): number {
  return Date.parse(endedAt ?? createdAt);
}

/** Without the failed jobs of workloads that are gone or need them no more. Reads the rows of these workloads. */
async function stillNeeded(jobs: readonly Job[], by: By): Promise<Job[]> {
  const keys = new Set(jobs.filter(isOfWorkload).map(({ subject }) => subject as WorkloadKey));
  const reloads = new Set<string>();
  const resumesAt = new Map<string, number>();
  for await (const portion of by.facts.eachWorkloadFacts([...keys])) {
    for (const { key, row, due } of portion) {
      // The row does not tell whether somebody asked for a reload.
      if (due !== null || latestOf(key, by.join)?.entry.request !== undefined) reloads.add(key);
      if (row.resumeAt !== undefined) resumesAt.set(key, row.resumeAt);
    }
  }
  return jobs.filter((job) => {
    if (!isOfWorkload(job)) return true;
    const key = job.subject ?? '';
    if (job.queue === 'reloads') return reloads.has(key);
    // A pause that ends later than the job did is another one, with a job of its own.
    return (resumesAt.get(key) ?? Infinity) <= endOf(job);
  });
}

function isOfWorkload(job: Job): job is Job & { readonly queue: 'reloads' | 'resumes' } {
  return job.state === 'failed' && (job.queue === 'reloads' || job.queue === 'resumes');
}

function latestOf(workload: WorkloadKey, join: HistoryJoin): Outcome | undefined {
  return join.workload(workload)?.outcomes.at(-1);
}
