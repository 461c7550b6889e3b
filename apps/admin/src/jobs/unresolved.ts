import type { HistoryJoin, Outcome } from '@reroll/core/history/join';
import { namespaceOf, type Key, type SourceKey, type WorkloadKey } from '@reroll/core/model';
import type { PendingCause } from '@reroll/core/state/outbox';
import type { Job } from '@reroll/shared/api/queues';
import { failedRequest, isNewJob } from '../history/failures.ts';
import type { ReloadJobs } from '../history/reload-jobs.ts';
import type { ObjectFacts } from '../objects/object-facts.ts';
import { pageOfJobs, type JobPage } from './job-page.ts';

interface By {
  readonly join: HistoryJoin;
  readonly facts: Pick<ObjectFacts, 'eachWorkloadFacts' | 'owing' | 'settings' | 'usersOf' | 'workloads'>;
  readonly reloads: Pick<ReloadJobs, 'of'>;
}

/** The workloads with something pending, as of the last scan of all. */
type Pending = ReadonlyMap<Key<string>, PendingCause>;

/** Looks at rows and jobs for one page. */
const MOST_LOOKS = 5;
/** Users of a source that are looked at; if more have a reload pending, one of them may be pending because of it. */
const MOST_USERS = 20;

/**
 * As `pageOfJobs`, without failed jobs that need no attention, because what they were for is done, is no longer needed, or is about to be
 * done by another job. BullMQ keeps failed jobs for a week, at most a thousand of a queue. Can be empty although more follow.
 */
export async function pageOfUnresolved(
  jobs: readonly Job[],
  by: Parameters<typeof pageOfJobs>[1] & By,
): Promise<JobPage> {
  const { marks: pending } = await by.facts.workloads.snapshot();
  const unresolved = lastOfEach(jobs).filter((job) => mayBeNeeded(job, pending, by.join));
  const items: Job[] = [];
  let last = by.after;
  for (let looks = 0; looks < MOST_LOOKS && items.length < by.limit; looks += 1) {
    const page = await pageOfJobs(unresolved, { ...by, after: last, limit: by.limit - items.length });
    items.push(...(await stillNeeded(page.items, pending, by)));
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

/** Without a look at rows and jobs. */
function mayBeNeeded(job: Job, pending: Pending, join: HistoryJoin): boolean {
  const { queue, state, subject } = job;
  if (state !== 'failed') return true;
  if (queue === 'changes') return (join.changesOf(subject as SourceKey).at(-1)?.at ?? 0) <= endOf(job);
  if (queue !== 'reloads') return true;
  const outcomes = outcomesOf(subject as WorkloadKey, join);
  const due = pending.get(subject as WorkloadKey) ?? null;
  if (failedRequest(outcomes, due)) return true;
  return due !== null && !isFollowed(job, outcomes.at(-1));
}

/** Whether a later attempt has not failed. */
function isFollowed(job: Job, latest: Outcome | undefined): boolean {
  return latest !== undefined && latest.entry.state !== 'failed' && latest.entry.at > endOf(job);
}

/** Without the failed jobs that are not needed any more. Nothing else sends a notification again. */
async function stillNeeded(jobs: readonly Job[], pending: Pending, by: By): Promise<Job[]> {
  const failedOf = (queue: Job['queue']): Job[] =>
    jobs.filter((job) => job.state === 'failed' && job.queue === queue);
  const needed = await Promise.all([
    neededReloads(failedOf('reloads'), by),
    neededResumes(failedOf('resumes'), by),
    neededChanges(failedOf('changes'), pending, by),
  ]);
  const kept = new Set(needed.flat());
  return jobs.filter((job) => job.state !== 'failed' || job.queue === 'notifications' || kept.has(job));
}

async function neededReloads(jobs: readonly Job[], { join, facts, reloads }: By): Promise<Job[]> {
  const keys = jobs.map(({ subject }) => subject as WorkloadKey);
  const newer = await reloads.of(keys);
  const needed = new Set<string | null>();
  for await (const portion of facts.eachWorkloadFacts(keys))
    for (const { key, due } of portion) {
      const isPending = due !== null || failedRequest(outcomesOf(key, join)) !== undefined;
      if (isPending && !isNewJob(newer.get(key))) needed.add(key);
    }
  return jobs.filter(({ subject }) => needed.has(subject));
}

/** A pause that ends later than the job did is another one, with a job of its own. */
async function neededResumes(jobs: readonly Job[], { facts }: By): Promise<Job[]> {
  const resumesAt = new Map<string | null, number | undefined>();
  for await (const portion of facts.eachWorkloadFacts(jobs.map(({ subject }) => subject as WorkloadKey)))
    for (const { key, row } of portion) resumesAt.set(key, row.resumeAt);
  return jobs.filter((job) => (resumesAt.get(job.subject) ?? Infinity) <= endOf(job));
}

/** A resync reloads the workloads without the job. With `--webhook-url`, the job is all that tells of the change. */
async function neededChanges(jobs: readonly Job[], pending: Pending, { facts }: By): Promise<Job[]> {
  if ((await facts.settings())?.notifyOnly !== false) return [...jobs];
  const owed = new Set([...pending].filter(([, due]) => due === 'owed').map(([key]) => key));
  const namespaces = new Set([...owed].map(namespaceOf));
  const sources = jobs.map(({ subject }) => subject as SourceKey);
  // Most namespaces have nothing pending, and a source can have thousands of users.
  const asked = sources.filter((source) => namespaces.has(namespaceOf(source)));
  const users = await Promise.all(
    asked.map(async (source) => {
      const all = await facts.usersOf(source);
      return [source, all.filter((user) => owed.has(user))] as const;
    }),
  );
  const few = users.filter(([, found]) => found.length <= MOST_USERS);
  const owing = await facts.owing(new Map(few));
  for (const [source, found] of users) if (found.length > MOST_USERS) owing.add(source);
  return jobs.filter(({ subject }) => owing.has(subject as SourceKey));
}

function outcomesOf(workload: WorkloadKey, join: HistoryJoin): readonly Outcome[] {
  return join.workload(workload)?.outcomes ?? [];
}
