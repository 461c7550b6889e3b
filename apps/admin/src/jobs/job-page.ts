import type { Job as JobAnswer } from '@reroll/shared/api/queues';
import type { NamespacesAsked } from '../history/namespaces-asked.ts';

export interface JobPage {
  readonly items: readonly JobAnswer[];
  /** The position of the last job that was examined; undefined if there are no more. */
  readonly last: string | undefined;
}

/** The position of a job, `<Unix ms> <id>`, which never changes. */
export const POSITION = /^\d{1,16} [\w:-]+$/u;

/** The page of visible jobs after a position, newest first. Shorter if many namespaces had to be asked about. */
export async function pageOfJobs(
  jobs: readonly JobAnswer[],
  by: { after: string | undefined; limit: number; namespaces: NamespacesAsked },
): Promise<JobPage> {
  const { after, limit, namespaces } = by;
  // A job that changes its state during the reads can be found in two states.
  const all = [...new Map(jobs.map((job) => [job.id, job])).values()].map(placed).sort(newestFirst);
  const items: JobAnswer[] = [];
  let last = after;
  for (const { job, at } of after === undefined ? all : all.filter((each) => isAfter(each, after))) {
    const namespace = job.subject?.split('/')[1];
    const sees = namespace === undefined ? false : await namespaces.sees(namespace);
    if (sees === undefined || (sees && items.length === limit)) return { items, last };
    if (sees) items.push(job);
    last = `${at} ${job.id}`;
  }
  return { items, last: undefined };
}

interface Placed {
  readonly job: JobAnswer;
  /** When it was created, Unix ms. Parsed once, because there can be tens of thousands of jobs to sort. */
  readonly at: number;
}

function placed(job: JobAnswer): Placed {
  return { job, at: Date.parse(job.createdAt) };
}

function newestFirst(a: Placed, b: Placed): number {
  return b.at - a.at || (a.job.id < b.job.id ? 1 : -1);
}

function isAfter({ job, at }: Placed, position: string): boolean {
  const [time = '', id = ''] = position.split(' ');
  return at < Number(time) || (at === Number(time) && job.id < id);
}
