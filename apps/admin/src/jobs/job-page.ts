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
  const all = [...new Map(jobs.map((job) => [job.id, job])).values()].sort(newestFirst);
  const items: JobAnswer[] = [];
  let last = after;
  for (const job of after === undefined ? all : all.filter((each) => isAfter(each, after))) {
    const namespace = job.subject?.split('/')[1];
    const sees = namespace === undefined ? false : await namespaces.sees(namespace);
    if (sees === undefined || (sees && items.length === limit)) return { items, last };
    if (sees) items.push(job);
    last = placeOf(job);
  }
  return { items, last: undefined };
}

function placeOf({ createdAt, id }: JobAnswer): string {
  return `${Date.parse(createdAt)} ${id}`;
}

function newestFirst(a: JobAnswer, b: JobAnswer): number {
  return Date.parse(b.createdAt) - Date.parse(a.createdAt) || (a.id < b.id ? 1 : -1);
}

function isAfter(job: JobAnswer, position: string): boolean {
  const [at = '', id = ''] = position.split(' ');
  const created = Date.parse(job.createdAt);
  return created < Number(at) || (created === Number(at) && job.id < id);
}
