import type { JSX } from 'preact';
import type { SourceSummary } from '@reroll/shared/api/workloads';
import { Filters, type Filter } from '../components/filters.tsx';
import { PageHead } from '../components/page-head.tsx';
import { Paged } from '../components/paged.tsx';
import { RefLink } from '../components/refs.tsx';
import { Table, type Column } from '../components/tables/table.tsx';
import { Time } from '../components/time.tsx';
import { Hash } from '../components/words.tsx';
import { SOURCE_KINDS } from '@reroll/core/model';
import { keyOf } from '../names.ts';
import { route } from '../router.ts';

const FILTERS: readonly Filter[] = [
  { name: 'name', label: 'Name contains' },
  { name: 'kind', label: 'Kind', choices: SOURCE_KINDS.map((kind) => [kind, kind]) },
];

const COLUMNS: readonly Column<SourceSummary>[] = [
  { header: 'Source', width: 'wide', cell: (source) => <RefLink of={source} /> },
  { header: 'Reloads', width: 'tight', cell: ({ workloads }) => workloads },
  {
    header: 'Changed',
    width: 'tight',
    cell: ({ changedAt }) => <Time at={changedAt} none="not in the history" />,
  },
  {
    header: 'Data',
    width: 'tight',
    cell: ({ exists, hash }) => (exists ? <Hash hash={hash} /> : 'Does not exist'),
  },
];

export function SourceTable(props: { sources: readonly SourceSummary[]; empty: string }): JSX.Element {
  return <Table caption="Sources" columns={COLUMNS} rows={props.sources} keyOf={keyOf} empty={props.empty} />;
}

export function Sources(): JSX.Element {
  const { namespace, query } = route.value;
  return (
    <>
      <PageHead title="Sources" />
      <Filters filters={FILTERS} />
      <div class="panel">
        <Paged id="listSources" query={{ namespace, ...query }} what="sources" keyOf={keyOf}>
          {(sources) => (
            <SourceTable
              sources={sources}
              empty={`No source that you may see${Object.keys(query).length === 0 ? '' : ' matches these filters'}.`}
            />
          )}
        </Paged>
      </div>
    </>
  );
}
