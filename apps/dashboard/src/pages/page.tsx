import type { JSX } from 'preact';
import { PageHead } from '../components/page-head.tsx';
import { refOf } from '../names.ts';
import { hrefOf, route } from '../router.ts';
import { Audit } from './audit.tsx';
import { Change } from './change/change.tsx';
import { Changes } from './changes.tsx';
import { Explain } from './explain.tsx';
import { Job } from './job.tsx';
import { Jobs } from './jobs.tsx';
import { Overview } from './overview/overview.tsx';
import { Preview } from './preview/preview.tsx';
import { Search } from './search.tsx';
import { Source } from './source/source.tsx';
import { Sources } from './sources.tsx';
import { Workload } from './workload/workload.tsx';
import { Workloads } from './workloads.tsx';

const LISTS: Readonly<Record<string, () => JSX.Element>> = {
  '': Overview,
  changes: Changes,
  workloads: Workloads,
  sources: Sources,
  explain: Explain,
  preview: Preview,
  jobs: Jobs,
  audit: Audit,
  search: Search,
};

/** The page of the present route. A key for each place, so that nothing of one page stays on another. */
export function Page(): JSX.Element {
  const { page, parts } = route.value;
  const List = parts.length === 0 && Object.hasOwn(LISTS, page) ? LISTS[page] : undefined;
  if (List) return <List key={page} />;
  return <One key={parts.join('/')} page={page} parts={parts} />;
}

function One({ page, parts }: { page: string; parts: readonly string[] }): JSX.Element {
  const [id] = parts;
  const ref = parts.length === 3 ? refOf(parts.join('/')) : undefined;
  if (id !== undefined && parts.length === 1) {
    if (page === 'changes') return <Change id={id} />;
    if (page === 'jobs') return <Job id={id} />;
  }
  if (ref && page === 'workloads') return <Workload of={ref} />;
  if (ref && page === 'sources') return <Source of={ref} />;
  return <NoPage />;
}

function NoPage(): JSX.Element {
  return (
    <>
      <PageHead title="Page not found" />
      <p>
        There is no page at this address. <a href={hrefOf('')}>Go to the overview</a>
      </p>
    </>
  );
}
