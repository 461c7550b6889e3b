import type { JSX } from 'preact';
import { Answer } from '../components/answer.tsx';
import { PageHead } from '../components/page-head.tsx';
import { Panel } from '../components/panel.tsx';
import { hrefOf, route } from '../router.ts';
import { useAnswer } from '../use-answer.ts';
import { SourceTable } from './sources.tsx';
import { WorkloadTable } from './workloads.tsx';

/** Workloads and sources whose names have the words that were searched for. */
export function Search(): JSX.Element {
  const { q = '' } = route.value.query;
  const workloads = useAnswer('listWorkloads', { query: { name: q, limit: '20' } }, 'once');
  const sources = useAnswer('listSources', { query: { name: q, limit: '20' } }, 'once');
  const nothing = `None that you may see has ${JSON.stringify(q)} in its name.`;
  return (
    <>
      <PageHead title={q === '' ? 'Search' : `Search for ${q}`} />
      <Panel title="Workloads" aside={<a href={hrefOf('workloads', [], { name: q })}>All that match</a>}>
        <Answer of={workloads} what="workloads">
          {({ items }) => <WorkloadTable workloads={items} empty={nothing} />}
        </Answer>
      </Panel>
      <Panel title="Sources" aside={<a href={hrefOf('sources', [], { name: q })}>All that match</a>}>
        <Answer of={sources} what="sources">
          {({ items }) => <SourceTable sources={items} empty={nothing} />}
        </Answer>
      </Panel>
    </>
  );
}
