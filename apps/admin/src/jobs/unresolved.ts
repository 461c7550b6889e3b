import type { HistoryJoin, Outcome } from '@reroll/core/history/join';
import type { SourceKey, WorkloadKey } from '@reroll/core/model';
import type { Job } from '@reroll/shared/api/queues';
import type { ObjectFacts } from '../objects/object-facts.ts';

/**
 * Whether the history has a later attempt, which has not failed, to do what a failed job was for. BullMQ keeps failed jobs for a week.
 * Nothing else sends a notification again.
 */
export function isFollowed({ queue, state, subject, endedAt }: Job, join: HistoryJoin): boolean {
  if (state !== 'failed' || endedAt === null) return false;
  const isLater = (at: number | undefined): boolean => at !== undefined && at > Date.parse(endedAt);
  if (queue === 'changes') return isLater(join.changesOf(subject as SourceKey).at(-1)?.at);
  if (queue !== 'reloads') return false;
  const latest = latestOf(subject as WorkloadKey, join);
  return latest?.entry.state !== 'failed' && isLater(latest?.entry.at);
}

/** Without the failed jobs of workloads that are gone or need them no more. Reads the rows of these workloads. */
export async function stillNeeded(
  jobs: readonly Job[],
  by: { join: HistoryJoin; facts: Pick<ObjectFacts, 'eachWorkloadFacts'> },
): Promise<Job[]> {
  const keys = new Set(jobs.filter(isOfWorkload).map(({ subject }) => subject as WorkloadKey));
  const needed: Record<'reloads' | 'resumes', Set<string>> = { reloads: new Set(), resumes: new Set() };
  for await (const portion of by.facts.eachWorkloadFacts([...keys])) {
    for (const { key, row, due } of portion) {
      // The row does not tell whether somebody asked for a reload.
      if (due !== null || latestOf(key, by.join)?.entry.request !== undefined) needed.reloads.add(key);
      if (row.resumeAt !== undefined) needed.resumes.add(key);
    }
  }
  return jobs.filter((job) => !isOfWorkload(job) || needed[job.queue].has(job.subject ?? ''));
}

function isOfWorkload(job: Job): job is Job & { readonly queue: 'reloads' | 'resumes' } {
  return job.state === 'failed' && (job.queue === 'reloads' || job.queue === 'resumes');
}

function latestOf(workload: WorkloadKey, join: HistoryJoin): Outcome | undefined {
  return join.workload(workload)?.outcomes.at(-1);
}
