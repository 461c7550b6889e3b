import type { JSX } from 'preact';
import { PageHead } from '../components/page-head.tsx';
import { Paged } from '../components/paged.tsx';
import { Panel } from '../components/panel.tsx';
import { keyOf } from '../names.ts';
import { hrefOf, route } from '../router.ts';
import { SourceTable } from './sources.tsx';
import { WorkloadTable } from './workloads.tsx';

const NAMESPACED = /^([a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?)\/([^/]*)$/;

/** A part of a name, or `namespace/name`. Names in Kubernetes are lowercase. */
function searchQuery(text: string): { namespace?: string; name: string; limit: string } {
  const [, namespace, name] = NAMESPACED.exec(text.toLowerCase()) ?? [];
  return { ...(namespace === undefined ? {} : { namespace }), name: name ?? text.toLowerCase(), limit: '20' };
}

/** Workloads and sources whose names have the words that were searched for. */
export function Search(): JSX.Element {
  const { q = '' } = route.value.query;
  const query = searchQuery(q);
  const filter = { namespace: query.namespace, name: query.name };
  const nothing = `None that you may see has ${JSON.stringify(q)} in its name.`;
  return (
    <>
      {/* The field that had the focus begins anew with another search. */}
      <PageHead key={q} title={q === '' ? 'Search' : `Search for ${q}`} />
      <Panel title="Workloads" aside={<a href={hrefOf('workloads', [], filter)}>All that match</a>}>
        <Paged id="listWorkloads" query={query} what="workloads" freshness="once" keyOf={keyOf}>
          {(workloads) => <WorkloadTable workloads={workloads} empty={nothing} />}
        </Paged>
      </Panel>
      <Panel title="Sources" aside={<a href={hrefOf('sources', [], filter)}>All that match</a>}>
        <Paged id="listSources" query={query} what="sources" freshness="once" keyOf={keyOf}>
          {(sources) => <SourceTable sources={sources} empty={nothing} />}
        </Paged>
      </Panel>
    </>
  );
}
