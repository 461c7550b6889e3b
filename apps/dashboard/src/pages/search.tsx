import type { JSX } from 'preact';
import { PageHead } from '../components/page-head.tsx';
import { Paged } from '../components/paged.tsx';
import { Panel } from '../components/panel.tsx';
import { suggestQuery } from '../components/suggest-query.ts';
import { keyOf } from '../names.ts';
import { hrefOf, route } from '../router.ts';
import { SourceTable } from './sources.tsx';
import { WorkloadTable } from './workloads.tsx';

/** Workloads and sources whose names have the words that were searched for. */
export function Search(): JSX.Element {
  const { namespace, query } = route.value;
  const { q = '' } = query;
  const workloads = { namespace, ...suggestQuery('workload', q) };
  const sources = { namespace, ...suggestQuery('source', q) };
  const nothing = `None that you may see has ${JSON.stringify(q)} in its name.`;
  return (
    <>
      {/* The field that had the focus begins anew with another search. */}
      <PageHead key={q} title={q === '' ? 'Search' : `Search for ${q}`} />
      <Panel title="Workloads" aside={<a href={hrefOf('workloads', [], workloads)}>All that match</a>}>
        <Paged
          id="listWorkloads"
          query={{ ...workloads, limit: '20' }}
          what="workloads"
          freshness="once"
          keyOf={keyOf}
        >
          {(found) => <WorkloadTable workloads={found} empty={nothing} />}
        </Paged>
      </Panel>
      <Panel title="Sources" aside={<a href={hrefOf('sources', [], sources)}>All that match</a>}>
        <Paged
          id="listSources"
          query={{ ...sources, limit: '20' }}
          what="sources"
          freshness="once"
          keyOf={keyOf}
        >
          {(found) => <SourceTable sources={found} empty={nothing} />}
        </Paged>
      </Panel>
    </>
  );
}
