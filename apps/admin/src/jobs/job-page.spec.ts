import type { Job } from '@reroll/shared/api/queues';
import { expect, it, vi } from 'vitest';
import { NamespacesAsked } from '../history/namespaces-asked.ts';
import { pageOfJobs, type JobPage } from './job-page.ts';

/** Each job in a namespace of its own; the caller sees every third. */
const JOBS = Array.from({ length: 300 }, (_, index) => ({
  id: `reloads:${index}`,
  subject: `Deployment/ns-${index}/web`,
  createdAt: new Date(1_000 + index).toISOString(),
})) as Job[];

it('a page asks about a hundred namespaces at most, and the pages together have every job that may be seen, newest first', async () => {
  const seen: string[] = [];
  let after: string | undefined;
  do {
    let asked = 0;
    const sees = (namespace: string): Promise<boolean> => {
      asked += 1;
      return Promise.resolve(Number(namespace.slice(3)) % 3 === 0);
    };
    const namespaces = new NamespacesAsked({ all: false, sees });
    const page: JobPage = await pageOfJobs(JOBS, { after, limit: 50, namespaces });
    expect(asked).toBeLessThanOrEqual(100);
    seen.push(...page.items.map(({ id }) => id));
    after = page.last;
  } while (after !== undefined);
  expect(seen).toEqual(Array.from({ length: 100 }, (_, index) => `reloads:${297 - index * 3}`));
});

it('a page reads the time of each job once', async () => {
  const parse = vi.spyOn(Date, 'parse');
  const namespaces = new NamespacesAsked({ all: true, sees: () => Promise.resolve(true) });
  const { items, last } = await pageOfJobs(JOBS.toSorted(byName), {
    after: undefined,
    limit: 300,
    namespaces,
  });
  expect([items.length, last]).toEqual([300, undefined]);
  expect(parse).toHaveBeenCalledTimes(JOBS.length);
  parse.mockRestore();
});

function byName(one: Job, other: Job): number {
  return one.id < other.id ? -1 : 1;
}
