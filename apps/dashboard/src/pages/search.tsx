import type { JSX } from 'preact';
import { PageHead } from '../components/page-head.tsx';
import { Paged } from '../components/paged.tsx';
import { Panel } from '../components/panel.tsx';
import { keyOf } from '../names.ts';
import { hrefOf, route } from '../router.ts';
import { SourceTable } from './sources.tsx';
import { WorkloadTable } from './workloads.tsx';

/** Workloads and sources whose names have the words that were searched for. */
export function Search(): JSX.Element {
  const { q = '' } = route.value.query;
  const query = { name: q, limit: '20' };
  const nothing = `None that you may see has ${JSON.stringify(q)} in its name.`;
  return (
    <>
      <PageHead title={q === '' ? 'Search' : `Search for ${q}`} />
      <Panel title="Workloads" aside={<a href={hrefOf('workloads', [], { name: q })}>All that match</a>}>
        <Paged id="listWorkloads" query={query} what="workloads" freshness="once" keyOf={keyOf}>
          {(workloads) => <WorkloadTable workloads={workloads} empty={nothing} />}
        </Paged>
      </Panel>
      <Panel title="Sources" aside={<a href={hrefOf('sources', [], { name: q })}>All that match</a>}>
        <Paged id="listSources" query={query} what="sources" freshness="once" keyOf={keyOf}>
          {(sources) => <SourceTable sources={sources} empty={nothing} />}
        </Paged>
      </Panel>
    </>
  );
}
